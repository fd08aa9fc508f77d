import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import { runTag } from "../../contract/run-filters.ts";
import { Run } from "../../contract/schemas/run.ts";
import { changeMarks } from "../../library/run-marks.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { type RenderDependencies, renderRun } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const updateRun = defineQuery({
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
  async handle({ run_id, ...change }, request, services: RenderDependencies) {
    const row = await requireOwnRun(request, run_id);
    return { ...renderRun(services, row), ...(await changeMarks(request, run_id, change)) };
  },
});
