import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { CustomModelPage, modelStatus } from "../../kit/schemas/custom-models.ts";
import { customModelTypes } from "../../models.ts";

export const listModels = defineOperation({
  name: "models.list",
  summary: "List the custom models that you can use, newest first",
  http: { method: "GET", path: "/models" },
  input: z.object({
    ...paginationFields,
    model_type: z.enum(customModelTypes).optional().describe("Only models of this model type"),
    status: modelStatus()
      .default("active")
      .describe("Only models with this status. `disabled` lists your own disabled models. Default: active"),
    granted: z
      .boolean()
      .default(false)
      .describe("true lists the models that other tenants granted to you. They are in no other list. Default: false"),
  }),
  output: CustomModelPage,
  example: { limit: 20, model_type: "wan-image-2.1" },
  respond: (input, services) => services.models.list(input),
});
