import { z } from "zod";
import { modelAlias, providerModelName } from "../../contract/fields.ts";
import { ImportedModelDetails } from "../../contract/schemas/imported-models.ts";
import { addImportedModel, type ImportDependencies } from "../../library/imported-models.ts";
import { defineQuery } from "../define-query.ts";

export const importModelOfProvider = defineQuery({
  name: "system.importModel",
  summary: "Import a model of a provider from what the provider publishes about it, for runs.create (operator)",
  http: { method: "POST", path: "/catalogue/models", bodies: ["json"] },
  changes: "installation",
  input: z.object({
    model: providerModelName(),
    aliases: z
      .array(modelAlias().describe("A name"))
      .max(10)
      .default([])
      .describe("Other names for it, at most 10. Default: none"),
    price: z
      .number()
      .min(0)
      .max(100_000)
      .optional()
      .describe(
        "What a call costs in US dollars. Default: the price that the name has. Without one, requests with a limit on costs are refused",
      ),
    tenant_ids: z
      .array(z.uuid())
      .min(1)
      .max(1000)
      .nullable()
      .optional()
      .describe(
        "Tenants that may use the names. null: all. Default: the tenants that a name has, which are all for a new one",
      ),
    document: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What the provider publishes about the model. Default: Gesso reads it from the provider"),
  }),
  output: ImportedModelDetails,
  example: { model: "sandbox:find/studio", aliases: ["studio"], price: 0.01 },
  handle: (input, request, services: ImportDependencies) => addImportedModel(services, request, input),
});
