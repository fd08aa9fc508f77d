import { z } from "zod";
import { type ExplainDependencies, explainRun } from "../../admin/explain-run.ts";
import { RunExplanation } from "../../contract/schemas/admin.ts";
import { defineQuery } from "../define-query.ts";

export const explain = defineQuery({
  name: "admin.explain",
  summary: "Explain what happened to a run of any tenant, and what it waits for (operator)",
  http: { method: "GET", path: "/admin/runs/:run_id" },
  input: z.object({ run_id: z.uuid().describe("ID of the run") }),
  output: RunExplanation,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: ({ run_id }, request, services: ExplainDependencies) => explainRun(services, request, run_id),
});
