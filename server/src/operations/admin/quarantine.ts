import { z } from "zod";
import { quarantineRunByOperator } from "../../admin/repair-runs.ts";
import { RepairedRun } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const quarantineRun = defineQuery({
  name: "admin.quarantine",
  summary: "Take an open run of any tenant out of execution until you retry or end it (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/quarantine" },
  changes: "installation",
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RepairedRun,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: ({ run_id }, request) => quarantineRunByOperator(request, run_id),
});
