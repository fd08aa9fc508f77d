import { z } from "zod";
import { loraName } from "../../contract/fields.ts";
import { customModelTypes } from "../../contract/models.ts";
import {
  CustomModel,
  modelDescription,
  modelName,
  previewImage,
  triggerWord,
  visibility,
} from "../../contract/schemas/custom-models.ts";
import { type CustomModelRow, findCustomModel, insertCustomModel } from "../../db/library/custom-models.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import {
  assertMayRegister,
  type LoraPolicy,
  loraNotRegistrable,
  renderModel,
  toModelManager,
} from "../../library/custom-models.ts";
import type { Ids } from "../../runtime/clock.ts";
import { defineQuery } from "../define-query.ts";

export const createModel = defineQuery({
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
  // A replay returns the model in its current state.
  async handle(draft, request, { ids, loras }: LoraPolicy & { ids: Ids }) {
    const { database, caller } = request;
    const manager = toModelManager(caller);
    const row = await createOnce<CustomModelRow>(request, {
      operation: "models.create",
      kind: "custom_model",
      input: draft,
      async create(idempotency) {
        assertMayRegister(loras, manager, draft);
        const newModel = { ...draft, model_id: ids.next(), idempotency };
        const { ownsLora, row } = await insertCustomModel(database, manager, newModel);
        if (!ownsLora) throw loraNotRegistrable();
        return row;
      },
      find: (modelId) => findCustomModel(database, manager, modelId),
      missingFault: "model_not_found",
    });
    return renderModel(row);
  },
});
