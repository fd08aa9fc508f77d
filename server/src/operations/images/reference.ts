import { z } from "zod";
import { executingModel, promptField, runFields } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { asEnvelope, EnvelopeError, envelopeSchema, type JsonObject } from "../../contract/schemas/run.ts";

const Tagged = z
  .strictObject({
    image_reference: imageField("Reference image as a URL, base64 or run ID"),
    tag: z
      .string()
      .regex(/^@?[A-Za-z][A-Za-z0-9_]{2,15}$/, {
        error: "Must have 3 to 16 letters, digits and underscores, and start with a letter.",
      })
      .describe("Tag of the image in the prompt, without the @"),
  })
  .describe("A reference image with its tag");

export const generateFromReferences = defineRun({
  name: "images.reference",
  summary: "Generate an image from a prompt with tagged reference images, such as @hero",
  http: { method: "POST", path: "/runs/reference", bodies: ["json", "form"] },
  run_type: "reference-generation",

  input: z.object({
    prompt: promptField("Text that describes the image. @tag refers to a tagged image"),
    images: z.array(Tagged).max(3).default([]).describe("Tagged reference images, at most 3. In a form: JSON text"),
    aspect_ratio: z
      .enum(["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"])
      .optional()
      .describe("Aspect ratio of the image. Default: set by the model"),
    resolution: z.enum(["720p", "1080p"]).optional().describe("Resolution of the image. Default: set by the model"),
    model: executingModel(),
    ...runFields,
  }),
  output: envelopeSchema("reference-generation").meta({ id: "ReferenceGeneration" }),
  example: {
    prompt: "@hero walks along the beach",
    images: [{ image_reference: "https://example.com/portrait.png", tag: "hero" }],
  },

  fillDefaults: (input) => ({
    ...input,
    images: input.images.map((image) => ({ ...image, tag: image.tag.replace(/^@/, "") })),
  }),
  warnings: (_, provided) =>
    ((provided.images ?? []) as JsonObject[]).flatMap(({ tag }) =>
      String(tag).startsWith("@") ? [`The tag ${tag} was read as ${String(tag).slice(1)}.`] : [],
    ),
  plan: (input, provided) => {
    const tags = input.images.length > 0 ? { tags: input.images.map(({ tag }) => tag) } : undefined;
    const tuning = pickProvided(input, provided, ["resolution"]);
    return [
      {
        task: "image.reference",
        model: input.model ?? DEFAULT_MODELS["image.reference"],
        prompt: input.prompt,
        images: tags && input.images.map(({ image_reference }) => parseSource(image_reference)),
        aspect_ratio: input.aspect_ratio,
        options: tags || tuning ? { ...tags, ...tuning } : undefined,
      },
    ];
  },
  renderResponse: asEnvelope,
  renderError: (fault) => ({ success: false, ...fault }),
  errorOutput: EnvelopeError,
});
