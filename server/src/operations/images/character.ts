import { z } from "zod";
import { promptField, runFields, runId, seed } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { asEnvelope, envelopeSchema } from "../../kit/schemas/run.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";

const RESOLUTIONS = ["auto", "720", "1024", "1280", "2048"] as const;
const TUNING = ["rendering_speed", "style_type", "magic_prompt_option", "resolution"];

const input = z.object({
  prompt: promptField("What the character does, and where"),
  character_reference_image: imageField("An image of the character").optional(),
  character_reference_run_id: runId("A run whose image shows the character; it becomes the parent").optional(),
  character_reference_file: fileField("An image of the character as a file; it goes before the others").optional(),
  rendering_speed: z.enum(["Default", "Turbo", "Quality"]).default("Default").describe("Speed against quality"),
  style_type: z.enum(["Auto", "Fiction", "Realistic"]).default("Auto").describe("Style of the picture"),
  magic_prompt_option: z.enum(["On", "Off", "Auto"]).default("Auto").describe("Whether the prompt is made richer"),
  aspect_ratio: z
    .enum(["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"])
    .optional()
    .describe("Shape of the picture: 1:1, or that of `image`, where nothing is said"),
  resolution: z
    .literal([...RESOLUTIONS, 720, 1024, 1280, 2048])
    .default("auto")
    .describe("Longer side in pixels, as text or as a number"),
  seed: seed(),
  image: imageField("Background or context that the character is put into").optional(),
  mask: imageField("Mask of `image`: white is where the character may be").optional(),
  ...runFields,
});

const referenceOf = (asked: z.output<typeof input>) =>
  firstSource(asked.character_reference_file, asked.character_reference_image, asked.character_reference_run_id);

export const generateCharacter = defineOperation({
  name: "images.character",
  summary: "Make images of one and the same character",
  http: { method: "POST", path: "/runs/character", bodies: ["json", "form"] },
  run_type: "character-generation",

  input,
  output: envelopeSchema("character-generation").meta({ id: "CharacterGeneration" }),
  example: { prompt: "reading in a cafe", character_reference_image: "https://example.com/portrait.png", seed: 7 },

  fillDefaults: (asked) => ({
    ...asked,
    resolution: String(asked.resolution) as (typeof RESOLUTIONS)[number],
    ...(!asked.aspect_ratio && !asked.image && { aspect_ratio: "1:1" as const }),
  }),
  parent: (asked) => asked.character_reference_run_id,
  unusedFields: (asked) => (asked.mask && !asked.image ? ["mask"] : []),
  adjustments: (asked, given) => (asked.mask && asked.image ? aspectRatioIgnored(given) : []),
  warnings: (asked) =>
    referenceOf(asked) ? [] : ["No character reference was given: this is a generation like any other."],
  plan: (asked, given) => {
    const reference = referenceOf(asked);
    const context = firstSource(asked.image);
    const mask = context && firstSource(asked.mask);
    const job = { prompt: asked.prompt, mask, aspect_ratio: mask ? undefined : asked.aspect_ratio, seed: asked.seed };
    if (context && !reference)
      return planWithinMask({ ...job, task: "image.edit", model: "edit-default", images: [context] });
    const images = [reference, context].flatMap((source) => source ?? []);
    return planWithinMask({
      ...job,
      task: "image.character",
      model: "character-default",
      images: images.length > 0 ? images : undefined,
      mask_over: mask && 1,
      options: pickProvided(asked, given, TUNING),
    });
  },
  renderResponse: asEnvelope,
  renderError: (fault) => ({ success: false, ...fault }),
});
