import { z } from "zod";
import { promptField, runFields } from "../../kit/fields.ts";
import { imageField, parseSource } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { asEnvelope, envelopeSchema, type JsonObject } from "../../kit/schemas/run.ts";

const Tagged = z
  .strictObject({
    image_reference: imageField("The image: address, base64 or run id"),
    tag: z
      .string()
      .regex(/^@?[A-Za-z][A-Za-z0-9_]{2,15}$/, { error: "3 to 16 letters, digits and underscores, a letter first." })
      .describe("What the prompt calls it, without the @"),
  })
  .describe("An image with the tag that the prompt calls it by");

export const generateFromReferences = defineOperation({
  name: "images.reference",
  summary: "Generate an image from a prompt with tagged reference images, such as @hero",
  http: { method: "POST", path: "/runs/reference", bodies: ["json", "form"] },
  run_type: "reference-generation",

  input: z.object({
    prompt: promptField("What the picture shows; @tag stands for a tagged image"),
    images: z.array(Tagged).max(3).default([]).describe("The images that the prompt speaks of; in a form as JSON text"),
    aspect_ratio: z
      .enum(["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"])
      .optional()
      .describe("Shape of the picture; the model's own where nothing is said"),
    resolution: z
      .enum(["720p", "1080p"])
      .optional()
      .describe("Size of the picture; the model's own where nothing is said"),
    ...runFields,
  }),
  output: envelopeSchema("reference-generation").meta({ id: "ReferenceGeneration" }),
  example: {
    prompt: "@hero walks along the beach",
    images: [{ image_reference: "https://example.com/portrait.png", tag: "hero" }],
  },

  fillDefaults: (asked) => ({
    ...asked,
    images: asked.images.map((image) => ({ ...image, tag: image.tag.replace(/^@/, "") })),
  }),
  warnings: (_, given) =>
    ((given.images ?? []) as JsonObject[]).flatMap(({ tag }) =>
      String(tag).startsWith("@") ? [`The tag ${tag} was read as ${String(tag).slice(1)}.`] : [],
    ),
  plan: (asked, given) => {
    const tags = asked.images.length > 0 ? { tags: asked.images.map(({ tag }) => tag) } : undefined;
    const tuning = pickProvided(asked, given, ["resolution"]);
    return [
      {
        task: "image.reference",
        model: "reference-default",
        prompt: asked.prompt,
        images: tags && asked.images.map(({ image_reference }) => parseSource(image_reference)),
        aspect_ratio: asked.aspect_ratio,
        options: tags || tuning ? { ...tags, ...tuning } : undefined,
      },
    ];
  },
  renderResponse: asEnvelope,
  renderError: (fault) => ({ success: false, ...fault }),
});
