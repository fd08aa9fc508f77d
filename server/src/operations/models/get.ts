import { z } from "zod";
import { CustomModel, modelId } from "../../contract/schemas/custom-models.ts";
import { findCustomModel } from "../../db/library/custom-models.ts";
import { Fault } from "../../faults/faults.ts";
import { renderModel, toModelManager } from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

export const getModel = defineQuery({
  name: "models.get",
  summary: "Get a custom model",
  http: { method: "GET", path: "/models/:model_id" },
  input: z.object({ model_id: modelId() }),
  output: CustomModel,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ model_id }, { database, caller }) {
    const row = await findCustomModel(database, toModelManager(caller), model_id);
    if (!row) throw new Fault("model_not_found");
    return renderModel(row);
  },
});
