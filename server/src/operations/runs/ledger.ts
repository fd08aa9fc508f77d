import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { RunLedger } from "../../kit/schemas/usage.ts";

export const getRunLedger = defineOperation({
  name: "runs.ledger",
  summary: "Get what a run reserved, was charged and got back, and the prices behind it",
  http: { method: "GET", path: "/runs/:run_id/ledger" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: RunLedger,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.money.ledger(input.run_id),
});
