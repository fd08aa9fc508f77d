import { z } from "zod";
import { CustomModel, modelId } from "../../contract/schemas/custom-models.ts";
import { deleteCustomModel } from "../../db/library/custom-models.ts";
import { explainRefusal, renderModel, toModelManager } from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

export const deleteModel = defineQuery({
  name: "models.delete",
  summary: "Delete a custom model and its grants. Returns the deleted model",
  http: { method: "DELETE", path: "/models/:model_id" },
  input: z.object({ model_id: modelId() }),
  output: CustomModel,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ model_id }, { database, caller }) {
    const manager = toModelManager(caller);
    const row = await deleteCustomModel(database, manager, model_id);
    if (!row) throw await explainRefusal(database, manager, model_id);
    return renderModel(row);
  },
});
