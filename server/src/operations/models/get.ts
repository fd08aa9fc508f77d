import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { CustomModel, modelId } from "../../kit/schemas/custom-models.ts";

export const getModel = defineOperation({
  name: "models.get",
  summary: "Get a custom model",
  http: { method: "GET", path: "/models/:model_id" },
  input: z.object({ model_id: modelId() }),
  output: CustomModel,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.models.get(input.model_id),
});
