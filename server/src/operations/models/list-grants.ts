import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { ModelGrantPage, modelId } from "../../kit/schemas/custom-models.ts";

export const listModelGrants = defineOperation({
  name: "models.grants.list",
  summary: "List grants of a custom model, newest first",
  http: { method: "GET", path: "/models/:model_id/grants" },
  input: z.object({ model_id: modelId(), ...paginationFields }),
  output: ModelGrantPage,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: ({ model_id, ...page }, services) => services.models.grants(model_id, page),
});
