import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { RunTree } from "../../contract/schemas/library.ts";
import type { Database } from "../../db/connect.ts";
import { buildRunTree } from "../../library/run-tree.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import type { RenderDependencies } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const getRunTree = defineQuery({
  name: "runs.tree",
  summary: "Get the tree of a run: all derived runs and the runs they refer to",
  http: { method: "GET", path: "/runs/:run_id/tree" },
  input: z.object({ run_id: runId("Any run of the tree") }),
  output: RunTree,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ run_id }, request, services: RenderDependencies & { database: Database }) =>
    buildRunTree(services, await requireOwnRun(request, run_id)),
});
