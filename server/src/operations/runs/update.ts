import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { runTag } from "../../kit/run-filters.ts";
import { Run } from "../../kit/schemas/run.ts";

export const updateRun = defineOperation({
  name: "runs.update",
  summary: "Add or remove the star of a run, or replace its tags",
  http: { method: "PATCH", path: "/runs/:run_id", bodies: ["json"] },
  input: z.object({
    run_id: runId("ID of the run"),
    starred: z.boolean().optional().describe("true adds the star, false removes it"),
    tags: z.array(runTag()).max(20).optional().describe("All tags of the run, at most 20. An empty list removes them"),
  }),
  rules: [atLeastOneChange("starred", "tags")],
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", starred: true, tags: ["campaign"] },
  respond: ({ run_id, ...change }, services) => services.runs.update(run_id, change),
});
