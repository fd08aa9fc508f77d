// Translates the request of an OpenAI client to an operation of Gesso. Pure: the same body gives the same run. What no
// operation can use is listed by its name, never dropped silently.

import { FLUX_KONTEXT_ASPECT_RATIOS, findModelDefinition } from "../../contract/models.ts";
import type { Operation } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { varyImage } from "../../operations/images/vary.ts";
import { editForOpenAi } from "../../operations/openai/edit.ts";
import { generateForOpenAi } from "../../operations/openai/generate.ts";
import { type ClientBody, issueAt } from "./client-body.ts";
import type { ModelNames } from "./model-names.ts";

export type Endpoint = "generations" | "edits" | "variations";

/**
 * `unused`: names of fields, as the client wrote them, that have no effect. `substitution`: that another model than the
 * named one does the work.
 */
export type ImageTranslation = {
  operation: Operation;
  input: JsonObject;
  unused: string[];
  substitution?: string | undefined;
};

const DEFAULT_MODEL = "flux-dev";
const DEFAULT_EDIT_MODEL = "edit-default";
/** More images in one run need an operation of their own. */
const MAX_BATCH = 4;
const MIN_SIDE = 64;
const MAX_SIDE = 2048;
/** Values that ask for nothing that Gesso does not do anyway. */
const NEUTRAL_QUALITIES = ["auto", "standard"];

export function toOperation(endpoint: Endpoint, body: ClientBody, names: ModelNames): ImageTranslation {
  refuseUnsupported(body);
  if (endpoint === "generations") return toGeneration(body, names);
  return endpoint === "edits" ? toEdit(body, names) : toVariation(body, names);
}

/** What changes the image or its price, and that no model here does. Such a request is refused, not paid for. */
function refuseUnsupported({ quality, background }: ClientBody): void {
  const opaque = "Images here are opaque. Leave it out, and remove the background with POST /api/v1/edits/remove-bg.";
  const fixed = `The model decides the quality. Leave it out, or send ${NEUTRAL_QUALITIES.join(" or ")}.`;
  const errors = [
    ...(quality === undefined || NEUTRAL_QUALITIES.includes(quality) ? [] : [["quality", fixed] as const]),
    ...(background === "transparent" ? [["background", opaque] as const] : []),
  ].map(([field, message]) => issueAt(field, "unsupported_value", message));
  if (errors.length > 0) throw new Fault("validation_error", { errors });
}

function toGeneration(body: ClientBody, names: ModelNames): ImageTranslation {
  const { model, warning } = names.resolve(body.model ?? DEFAULT_MODEL, "image.generate");
  const size = sizeForModel({ model, takes: names.shapeOf(model) }, body.size);
  const { n = 1 } = body;
  return {
    operation: n > MAX_BATCH ? generateForOpenAi : generateImage,
    input: {
      prompt: requirePrompt(body),
      model_type: model,
      ...(n > 1 && { batch_size: n }),
      ...size.fields,
      ...runFieldsOf(body),
    },
    unused: [
      ...commonUnused(body),
      ...(size.isUsed ? [] : ["size"]),
      ...(body.images.length > 0 ? ["image"] : []),
      ...(body.mask === undefined ? [] : ["mask"]),
    ],
    substitution: warning,
  };
}

function toEdit(body: ClientBody, names: ModelNames): ImageTranslation {
  const { n = 1, mask, own } = body;
  const { negative_prompt: _unused, ...kept } = runFieldsOf(body);
  const { model, warning } = names.resolve(body.model ?? DEFAULT_EDIT_MODEL, "image.edit");
  const ratio = mask === undefined && body.size !== undefined ? aspectRatioOf(body.size) : undefined;
  return {
    operation: editForOpenAi,
    input: {
      prompt: requirePrompt(body),
      model_type: model,
      images: requireImages(body),
      ...(mask !== undefined && { mask }),
      ...(n > 1 && { n }),
      ...(ratio && { aspect_ratio: ratio }),
      ...kept,
    },
    unused: [
      ...commonUnused(body),
      // With a mask, the image keeps its size, so that pixels outside of the mask can stay unchanged.
      ...(mask !== undefined && isSize(body.size) ? ["size"] : []),
      ...(own.negative_prompt === undefined ? [] : ["negative_prompt"]),
    ],
    substitution: warning,
  };
}

function toVariation(body: ClientBody, names: ModelNames): ImageTranslation {
  const { n = 1, own, mask, prompt, model } = body;
  const [image, ...others] = requireImages(body);
  const { negative_prompt: _unused, ...kept } = runFieldsOf(body);
  if (n > MAX_BATCH) throw invalid("n", `Must be at most ${MAX_BATCH} for variations.`);
  if (others.length > 0) throw invalid("image", "Variations take one image.");
  const isOtherModel = model !== undefined && names.resolve(model, "image.edit").model !== DEFAULT_EDIT_MODEL;
  return {
    operation: varyImage,
    input: { image_url: image, n, ...kept },
    unused: [
      ...commonUnused(body),
      ...(isOtherModel ? ["model"] : []),
      ...(isSize(body.size) ? ["size"] : []),
      ...(prompt === undefined ? [] : ["prompt"]),
      ...(mask === undefined ? [] : ["mask"]),
      ...(own.negative_prompt === undefined ? [] : ["negative_prompt"]),
    ],
  };
}

function requirePrompt({ prompt }: ClientBody): string {
  if (prompt === undefined) throw invalid("prompt", "This field is required.", "required");
  return prompt;
}

function requireImages({ images }: ClientBody): ClientBody["images"] {
  if (images.length === 0) throw invalid("image", "This field is required.", "required");
  return images;
}

const invalid = (field: string, message: string, code = "invalid_value") =>
  new Fault("validation_error", { errors: [issueAt(field, code, message)] });

/** `user` and `safety_identifier` say on whose behalf the client acts. They are stored with the run. */
function runFieldsOf({ own, user, safety_identifier }: ClientBody): JsonObject {
  const about = { ...(user !== undefined && { user }), ...(safety_identifier !== undefined && { safety_identifier }) };
  const { metadata = {} } = own;
  // Validation refuses metadata that is not an object.
  if (Object.keys(about).length === 0 || !isObject(metadata)) return own;
  return { ...own, metadata: { ...metadata, ...about } };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function commonUnused({ partial_images, unknown }: ClientBody): string[] {
  return [
    // Providers report no images before the last one.
    ...(partial_images ? ["partial_images"] : []),
    ...unknown,
  ];
}

const isSize = (size: string | undefined): size is string => size !== undefined && size !== "auto";

type SizeFields = { fields: JsonObject; isUsed: boolean };

/** The size in the fields that the model uses: width and height, or else the aspect ratio. */
function sizeForModel(
  { model, takes }: { model: string; takes: ReturnType<ModelNames["shapeOf"]> },
  size: string | undefined,
): SizeFields {
  const { requires = [] } = findModelDefinition(model) ?? {};
  if (!isSize(size)) {
    const fields = {
      ...(requires.includes("width") && { width: 1024, height: 1024 }),
      ...(requires.includes("aspect_ratio") && { aspect_ratio: "1:1" }),
    };
    return { fields, isUsed: true };
  }
  if (takes === "size" && !requires.includes("aspect_ratio")) {
    const [width = 0, height = 0] = size.split("x").map(Number);
    if (Math.min(width, height) < MIN_SIDE || Math.max(width, height) > MAX_SIDE)
      throw invalid("size", `Each side must have ${MIN_SIDE} to ${MAX_SIDE} pixels.`);
    return { fields: { width, height }, isUsed: true };
  }
  if (takes === undefined) return { fields: {}, isUsed: false };
  const supported = model === "flux-kontext-max" ? FLUX_KONTEXT_ASPECT_RATIOS : undefined;
  return { fields: { aspect_ratio: aspectRatioOf(size, supported) }, isUsed: true };
}

const MAX_RATIO_NUMBER = 99;

/** The aspect ratio of a size: exact if both numbers are below 100, else the nearest. Undefined for `auto`. */
function aspectRatioOf(size: string, supported?: readonly string[]): string | undefined {
  if (!isSize(size)) return undefined;
  const [width = 0, height = 0] = size.split("x").map(Number);
  if (width === 0 || height === 0) throw invalid("size", "Each side must have at least 1 pixel.");
  const distance = ([a, b]: [number, number]) => Math.abs(Math.log((a / b) * (height / width)));
  const candidates =
    supported?.map((ratio) => ratio.split(":").map(Number) as [number, number]) ??
    Array.from({ length: MAX_RATIO_NUMBER }, (_, index): [number, number] => {
      const b = index + 1;
      return [Math.min(MAX_RATIO_NUMBER, Math.max(1, Math.round((b * width) / height))), b];
    });
  const [a, b] = candidates.reduce((best, each) => (distance(each) < distance(best) - 1e-9 ? each : best));
  return `${a}:${b}`;
}
