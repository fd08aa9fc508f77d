import { z } from "zod";
import { loraName } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import {
  CustomModel,
  modelDescription,
  modelId,
  modelName,
  modelStatus,
  previewImage,
  triggerWord,
  visibility,
} from "../../kit/schemas/custom-models.ts";
import { customModelTypes } from "../../models.ts";

const changes = {
  name: modelName().optional(),
  model_type: z.enum(customModelTypes).optional().describe("Model type that the custom model belongs to"),
  deployment_id: loraName("Name of the model at the provider: the LoRA file without `.safetensors`").optional(),
  trigger_word: triggerWord().optional(),
  description: modelDescription().optional(),
  preview_image_url: previewImage().optional(),
  visibility: visibility().optional(),
  status: modelStatus().optional(),
};

export const updateModel = defineOperation({
  name: "models.update",
  summary: "Change a custom model. Accepted runs use the previous values",
  http: { method: "PATCH", path: "/models/:model_id", bodies: ["json"] },
  input: z.object({ model_id: modelId(), ...changes }),
  rules: [atLeastOneChange(...Object.keys(changes))],
  output: CustomModel,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", visibility: "tenant" },
  respond: ({ model_id, ...change }, services) => services.models.update(model_id, change),
});
