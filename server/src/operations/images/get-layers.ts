import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { Layers } from "../../contract/schemas/library.ts";
import type { Database } from "../../db/connect.ts";
import { buildLayers } from "../../library/layers.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import type { RenderDependencies } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const getLayers = defineQuery({
  name: "edit.getLayers",
  summary: "Get the sources and results of a run as layers, from bottom to top",
  http: { method: "GET", path: "/runs/:run_id/layers" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Layers,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ run_id }, request, services: RenderDependencies & { database: Database }) =>
    buildLayers(services, await requireOwnRun(request, run_id)),
});
