import { z } from "zod";
import { loraName } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import {
  CustomModel,
  modelDescription,
  modelName,
  previewImage,
  triggerWord,
  visibility,
} from "../../kit/schemas/custom-models.ts";
import { customModelTypes } from "../../models.ts";

export const createModel = defineOperation({
  name: "models.create",
  summary: "Register a custom model, such as a LoRA",
  http: { method: "POST", path: "/models", bodies: ["json"], status: 201 },
  input: z.object({
    name: modelName(),
    model_type: z.enum(customModelTypes).describe("Model type that the custom model belongs to"),
    deployment_id: loraName("Name of the model at the provider: the LoRA file without `.safetensors`"),
    trigger_word: triggerWord().default(null),
    description: modelDescription().default(null),
    preview_image_url: previewImage().default(null),
    visibility: visibility().default("private"),
  }),
  output: CustomModel,
  example: { name: "Ink drawings", model_type: "wan-image-2.1", deployment_id: "ink-v2", trigger_word: "inkstyle" },
  respond: (input, services) => services.models.create(input),
});
