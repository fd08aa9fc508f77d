import { z } from "zod";
import { loraName } from "../../contract/fields.ts";
import { customModelTypes } from "../../contract/models.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import {
  CustomModel,
  modelDescription,
  modelId,
  modelName,
  modelStatus,
  previewImage,
  triggerWord,
  visibility,
} from "../../contract/schemas/custom-models.ts";
import { updateCustomModel } from "../../db/library/custom-models.ts";
import {
  assertMayRegister,
  explainRefusal,
  type LoraPolicy,
  loraNotRegistrable,
  renderModel,
  requireManageable,
  toModelManager,
} from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

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

export const updateModel = defineQuery({
  name: "models.update",
  summary: "Change a custom model. Accepted runs use the previous values",
  http: { method: "PATCH", path: "/models/:model_id", bodies: ["json"] },
  input: z.object({ model_id: modelId(), ...changes }),
  rules: [atLeastOneChange(...Object.keys(changes))],
  output: CustomModel,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", visibility: "tenant" },
  async handle({ model_id, ...change }, { database, caller }, { loras }: LoraPolicy) {
    const manager = toModelManager(caller);
    await requireManageable(database, manager, model_id);
    assertMayRegister(loras, manager, change);
    const row = await updateCustomModel(database, manager, model_id, change);
    if (row) return renderModel(row);
    throw change.deployment_id === undefined ? await explainRefusal(database, manager, model_id) : loraNotRegistrable();
  },
});
