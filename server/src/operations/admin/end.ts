import { z } from "zod";
import { endRunByOperator, type RepairDependencies } from "../../admin/repair-runs.ts";
import { RepairedRun } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const endRunOfTenant = defineQuery({
  name: "admin.end",
  summary: "End an open run of any tenant as failed, and cancel its jobs where possible (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/end" },
  changes: "installation",
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RepairedRun,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: ({ run_id }, request, services: RepairDependencies) => endRunByOperator(services, request, run_id),
});
