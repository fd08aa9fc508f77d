import { z } from "zod";
import { executingModel, promptField, runFields, seed } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { asEnvelope, EnvelopeError, envelopeSchema } from "../../contract/schemas/run.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";

const RESOLUTIONS = ["auto", "720", "1024", "1280", "2048"] as const;
const TUNING = ["rendering_speed", "style_type", "magic_prompt_option", "resolution"];

const input = z.object({
  prompt: promptField("Text that describes the character's action and surroundings"),
  character_reference_image: imageField("Image of the character").optional(),
  ...sourceRun("character_reference_run_id", "Run whose image shows the character. It becomes the parent"),
  character_reference_file: sourceFileField(
    "Image of the character as a file. Takes precedence over the other sources",
  ).optional(),
  rendering_speed: z
    .enum(["Default", "Turbo", "Quality"])
    .default("Default")
    .describe("Speed or quality. Default: Default"),
  style_type: z.enum(["Auto", "Fiction", "Realistic"]).default("Auto").describe("Style of the image. Default: Auto"),
  magic_prompt_option: z
    .enum(["On", "Off", "Auto"])
    .default("Auto")
    .describe("Whether the provider enhances the prompt. Default: Auto"),
  aspect_ratio: z
    .enum(["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"])
    .optional()
    .describe("Aspect ratio. Default: that of `image`, or 1:1 without it"),
  resolution: z
    .literal([...RESOLUTIONS, 720, 1024, 1280, 2048])
    .default("auto")
    .describe("Longer side in pixels, as text or number. Default: auto"),
  seed: seed(),
  image: imageField("Image that the character is placed into").optional(),
  mask: imageField("Mask of `image`. White marks the area for the character").optional(),
  model: executingModel(),
  ...runFields,
});

type CharacterInput = z.output<typeof input>;

const referenceOf = (input: CharacterInput) =>
  firstSource(
    input.character_reference_file,
    input.character_reference_image,
    selectedOutput(input.character_reference_run_id, input),
  );

export const generateCharacter = defineRun({
  name: "images.character",
  summary: "Generate images of the same character",
  http: { method: "POST", path: "/runs/character", bodies: ["json", "form"] },
  run_type: "character-generation",

  input,
  output: envelopeSchema("character-generation").meta({ id: "CharacterGeneration" }),
  example: { prompt: "reading in a cafe", character_reference_image: "https://example.com/portrait.png", seed: 7 },

  fillDefaults: (input) => ({
    ...input,
    resolution: String(input.resolution) as (typeof RESOLUTIONS)[number],
    ...(!input.aspect_ratio && !input.image && { aspect_ratio: "1:1" as const }),
  }),
  parent: (input) => input.character_reference_run_id,
  parentSource: referenceOf,
  unusedFields: (input) => (input.mask && !input.image ? ["mask"] : []),
  adjustments: (input, provided) => (input.mask && input.image ? aspectRatioIgnored(provided) : []),
  warnings: (input) =>
    referenceOf(input) ? [] : ["No character reference was provided, so the character can differ between runs."],
  plan: (input, provided) => {
    const reference = referenceOf(input);
    const context = firstSource(input.image);
    const mask = context && firstSource(input.mask);
    const job = { prompt: input.prompt, mask, aspect_ratio: mask ? undefined : input.aspect_ratio, seed: input.seed };
    if (context && !reference)
      return planWithinMask({
        ...job,
        task: "image.edit",
        model: input.model ?? DEFAULT_MODELS["image.edit"],
        images: [context],
      });
    const images = [reference, context].flatMap((source) => source ?? []);
    return planWithinMask({
      ...job,
      task: "image.character",
      model: input.model ?? DEFAULT_MODELS["image.character"],
      images: images.length > 0 ? images : undefined,
      mask_over: mask && 1,
      // `auto` asks for nothing: the provider chooses the size.
      options: pickProvided(
        input,
        provided,
        TUNING.filter((field) => field !== "resolution" || input.resolution !== "auto"),
      ),
    });
  },
  renderResponse: asEnvelope,
  renderError: (fault) => ({ success: false, ...fault }),
  errorOutput: EnvelopeError,
});
