// Response schemas of imported models: what a provider publishes about a model, as Gesso checks requests with it.
import { z } from "zod";
import { pageSchema } from "../pagination.ts";

export const MEDIA_KINDS = ["image", "video", "audio", "model", "archive", "weights", "text", "file"] as const;

const FileField = z
  .object({
    pointer: z.string().describe("JSON pointer. `*` stands for every element of a list or every value of a map"),
    kind: z.enum(MEDIA_KINDS).describe("What the file is. Of an input, a hint for forms and no rule"),
  })
  .meta({ id: "FileField" });

const summary = {
  name: z.string().describe("The name that requests use: that of the model at its provider, or an alias"),
  model: z.string().describe("The provider's own name, such as fal:fal-ai/veo3.1/fast"),
  provider: z.string(),
  title: z.string().nullable(),
  category: z.string().nullable().describe("What the provider calls its kind, such as text-to-video"),
  media: z.array(z.enum(MEDIA_KINDS)).describe("The kinds of files that a result has"),
  price: z.number().nullable().describe("What a call costs in US dollars, as the operator says. null: unknown"),
  schema_hash: z.string().describe("Identifies the schemas. Another hash: another input may be valid"),
  tenant_ids: z
    .array(z.string())
    .nullable()
    .optional()
    .describe("Tenants that may use the name. null: all. Only in responses to the operator"),
  refused_at: z.iso
    .datetime()
    .nullable()
    .describe(
      "When the provider first refused an input that this schema allows, since the model was imported. null: never. The " +
        "provider may have changed the model: import it again",
    ),
};

export const ImportedModelSummary = z.object(summary).meta({ id: "ImportedModelSummary" });
export type ImportedModelSummary = z.infer<typeof ImportedModelSummary>;
export const ImportedModelPage = pageSchema(ImportedModelSummary, "ImportedModelPage");

const jsonSchema = (description: string) =>
  z.record(z.string(), z.unknown()).describe(`${description}, as a JSON Schema (2020-12)`);

export const ImportedModelDetails = z
  .object({
    ...summary,
    version: z.string().nullable().describe("The version that runs use. null for providers without versions"),
    input: jsonSchema("What `input` of runs.create must fit"),
    output: jsonSchema("What the provider returns"),
    files: z.object({ input: z.array(FileField), output: z.array(FileField) }).describe("Where files are"),
    order: z.array(z.string()).describe("The fields of the input, in the order for forms"),
    example: z.record(z.string(), z.unknown()).describe("An input with the required fields"),
  })
  .meta({ id: "ImportedModel" });
export type ImportedModelDetails = z.infer<typeof ImportedModelDetails>;
