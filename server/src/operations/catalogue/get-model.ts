import { z } from "zod";
import { anyModelName } from "../../contract/fields.ts";
import { ImportedModelDetails } from "../../contract/schemas/imported-models.ts";
import { getImportedModel, type ModelDependencies } from "../../library/imported-models.ts";
import { defineQuery } from "../define-query.ts";

export const getCatalogueModel = defineQuery({
  name: "catalogue.getModel",
  summary: "Get an imported model: the schemas of its input and its result, its files and an example",
  http: { method: "GET", path: "/catalogue/models/:model" },
  input: z.object({ model: anyModelName().describe("Name of the model, or an alias") }),
  output: ImportedModelDetails,
  example: { model: "sandbox:replay/studio" },
  handle: ({ model }, request, services: ModelDependencies) => getImportedModel(services, request, model),
});
