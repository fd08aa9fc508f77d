import { z } from "zod";
import { type RepairDependencies, retryRunByOperator } from "../../admin/repair-runs.ts";
import { RepairedRun } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const retryRunOfTenant = defineQuery({
  name: "admin.retry",
  summary: "Return an open run of any tenant to the queue. No accepted job is submitted again (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/retry" },
  changes: "installation",
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RepairedRun,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: ({ run_id }, request, services: RepairDependencies) => retryRunByOperator(services, request, run_id),
});
