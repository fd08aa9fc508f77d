import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { CustomModelPage, modelStatus } from "../../kit/schemas/custom-models.ts";
import { customModelTypes } from "../../models.ts";

export const listModels = defineOperation({
  name: "models.list",
  summary: "The custom models that you may use, newest first",
  http: { method: "GET", path: "/models" },
  input: z.object({
    ...paginationFields,
    model_type: z.enum(customModelTypes).optional().describe("Only models that are made for this model type"),
    status: modelStatus().default("active").describe("`disabled` lists the disabled ones that are yours to enable"),
  }),
  output: CustomModelPage,
  example: { limit: 20, model_type: "wan-image-2.1" },
  respond: (input, ask) => ask.models.list(input),
});
