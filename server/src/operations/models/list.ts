import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { customModelTypes } from "../../contract/models.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { CustomModelPage, modelStatus } from "../../contract/schemas/custom-models.ts";
import { listCustomModels } from "../../db/library/custom-models.ts";
import { renderModel, toModelManager } from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

export const listModels = defineQuery({
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
  handle: ({ limit, cursor, ...filter }, { database, caller, cursors }) =>
    paginate(
      cursors,
      { limit, cursor },
      {
        scope: ["models", caller.tenant_id, caller.user_id, filter],
        read: (before, limit) => listCustomModels(database, toModelManager(caller), { ...filter, before }, limit),
        cursorId: ({ model_id }) => model_id,
        render: renderModel,
      },
    ),
});
