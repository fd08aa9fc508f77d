import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Layers } from "../../kit/schemas/library.ts";

export const getLayers = defineOperation({
  name: "edit.getLayers",
  summary: "What a run was made of and what it made, as layers from the bottom up",
  http: { method: "GET", path: "/runs/:run_id/layers" },
  input: z.object({ run_id: runId("The run") }),
  output: Layers,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, ask) => ask.layers(input.run_id),
});
