import { z } from "zod";
import { anyModelName } from "../../contract/fields.ts";
import { type ModelDependencies, removeImportedModel } from "../../library/imported-models.ts";
import { defineQuery } from "../define-query.ts";

export const removeImportedModelName = defineQuery({
  name: "system.removeModel",
  summary: "Remove the name of an imported model. Its runs stay (operator)",
  http: { method: "DELETE", path: "/catalogue/models/:model" },
  changes: "installation",
  input: z.object({ model: anyModelName().describe("Name of the model, or an alias") }),
  output: z.object({ success: z.boolean() }),
  example: { model: "sandbox:replay/studio" },
  async handle({ model }, request, services: ModelDependencies) {
    await removeImportedModel(services, request, model);
    return { success: true };
  },
});
