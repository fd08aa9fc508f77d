import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { RepairedRun } from "../../kit/schemas/admin-repairs.ts";

export const endRunOfTenant = defineOperation({
  name: "admin.end",
  summary: "End an open run of any tenant as failed, and cancel its jobs where possible (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/end" },
  changes: "installation",
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RepairedRun,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: ({ run_id }, services) => services.admin.end(run_id),
});
