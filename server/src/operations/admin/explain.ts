import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { RunExplanation } from "../../kit/schemas/admin.ts";

export const explain = defineOperation({
  name: "admin.explain",
  summary: "Explain what happened to a run of any tenant, and what it waits for (operator)",
  http: { method: "GET", path: "/admin/runs/:run_id" },
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RunExplanation,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: ({ run_id }, services) => services.admin.explain(run_id),
});
