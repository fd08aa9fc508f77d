import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { RunLedger } from "../../contract/schemas/usage.ts";
import { reportRunLedger } from "../../money/run-ledger.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { defineQuery } from "../define-query.ts";

export const getRunLedger = defineQuery({
  name: "runs.ledger",
  summary: "Get what a run reserved, was charged and got back, and the prices behind it",
  http: { method: "GET", path: "/runs/:run_id/ledger" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: RunLedger,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ run_id }, request) => reportRunLedger(request.database, await requireOwnRun(request, run_id)),
});
