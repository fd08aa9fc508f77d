import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { ModelPage, modelStatus } from "../../kit/shapes-models.ts";
import { ownModelIds } from "../../models.ts";

export const listModels = defineOperation({
  name: "models.list",
  summary: "The custom models that you may use, newest first",
  http: { method: "GET", path: "/models" },
  input: z.object({
    ...perPage,
    model_type: z.enum(ownModelIds).optional().describe("Only models that are made for this model type"),
    status: modelStatus().default("active").describe("`disabled` lists the disabled ones that are yours to enable"),
  }),
  output: ModelPage,
  example: { limit: 20, model_type: "wan-image-2.1" },
  answer: (input, ask) => ask.models.list(input),
});
