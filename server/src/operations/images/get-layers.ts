import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Layers } from "../../kit/schemas/library.ts";

export const getLayers = defineOperation({
  name: "edit.getLayers",
  summary: "Get the sources and results of a run as layers, from bottom to top",
  http: { method: "GET", path: "/runs/:run_id/layers" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Layers,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.runs.layers(input.run_id),
});
