// Probe values of every parameter, and how to recognise them in a request to a provider. Values are distinctive, so
// that finding one means that it was sent.
import type { Job } from "../../src/contract/operation.ts";
import type { ParameterName } from "../../src/contract/task-parameters.ts";
import type { Asset } from "../../src/providers/provider.ts";
import { createImageAsset, createMaskAsset } from "../fake-vendors/sample-jobs.ts";
import { hashOf, type RequestLeaf } from "./recorded-requests.ts";

/** What a recogniser sees: what the parameter changed in the request, and the whole request. */
export type SeenRequest = { changed: RequestLeaf[]; all: RequestLeaf[] };

export type ParameterProbe = {
  /** Values within the API's own limits. Some are outside of the limits of many models. */
  values(job: Job<Asset>): unknown[];
  /** The value of the request to compare with, which no model treats like `value`. Default: absent. */
  baseline?(job: Job<Asset>, value: unknown): unknown;
  /** What else a job needs for this parameter to make sense. */
  needs?: Record<string, unknown>;
  isSent?(value: unknown, request: SeenRequest): boolean | Promise<boolean>;
};

const values = (...list: unknown[]): ParameterProbe => ({ values: () => list });

/** The value, in one of the notations of providers. */
const isValue =
  (value: unknown) =>
  (leaf: RequestLeaf): boolean => {
    if (typeof value === "string") return typeof leaf.value === "string" && leaf.value.includes(value);
    if (typeof value === "boolean") return leaf.value === value;
    return [value, String(value), `${value}s`, `x${value}`].includes(leaf.value);
  };

export const isSentAnywhere = (value: unknown, { changed }: SeenRequest) => changed.some(isValue(value));

/** Any change that the parameter alone can have caused. */
const isChanged = (_: unknown, { changed }: SeenRequest) => changed.length > 0;

/** Rounding to the steps of a model: at most one step of 32 pixels at the shortest side. */
const ROUNDING = 0.05;
const ratioOf = (text: string) => {
  const [width = 0, height = 0] = text.split(/[:x]/).map(Number);
  return width / height;
};
const PRESETS: Record<string, string> = {
  square_hd: "1:1",
  landscape_4_3: "4:3",
  portrait_4_3: "3:4",
  landscape_16_9: "16:9",
  portrait_16_9: "9:16",
};

/** All shapes in a request: ratios, sizes in one text, and pairs of sides. */
function shapesIn(leaves: RequestLeaf[]): number[] {
  const texts = leaves.flatMap(({ value }) => {
    if (typeof value !== "string") return [];
    const text = PRESETS[value] ?? /\bimage (\d+x\d+) /.exec(value)?.[1] ?? value;
    return /^\d+[:x]\d+$/.test(text) ? [ratioOf(text)] : [];
  });
  const side = (name: string) =>
    leaves.filter(({ path }) => path.endsWith(`.${name}`)).map(({ value }) => Number(value));
  const heights = side("height");
  return [...texts, ...side("width").map((width, index) => width / heights[index]!)];
}

function isShapeSent(value: unknown, { all, changed }: SeenRequest): boolean {
  const used = String(value);
  if (changed.length === 0) return false;
  if (/^\d+x\d+$/.test(used)) return isSizeSent(used.split("x").map(Number), all);
  return shapesIn(all).some((shape) => Math.abs(Math.log(shape / ratioOf(used))) < ROUNDING);
}

const isSizeSent = ([width, height]: number[], leaves: RequestLeaf[]) =>
  leaves.some(({ value }) =>
    [`${width}x${height}`, `${width}:${height}`].some((size) => String(value).includes(size)),
  ) ||
  (leaves.some(({ path, value }) => path.endsWith(".width") && value === width) &&
    leaves.some(({ path, value }) => path.endsWith(".height") && value === height));

/** One side of a size; where the model has only aspect ratios, the ratio that stands for it. */
const isSideSent =
  (name: "width" | "height") =>
  (value: unknown, { all, changed }: SeenRequest): boolean => {
    if (typeof value !== "number") return isShapeSent(value, { all, changed });
    const pattern = name === "width" ? new RegExp(`\\b${value}[x:]\\d+`) : new RegExp(`\\d[x:]${value}\\b`);
    return changed.some(
      (leaf) =>
        (leaf.path.endsWith(`.${name}`) && leaf.value === value) ||
        (typeof leaf.value === "string" && pattern.test(leaf.value)),
    );
  };

/** Providers have seconds, seconds with a unit, or a number of frames. */
function isDurationSent(value: unknown, { all }: SeenRequest): boolean {
  const numberAt = (name: string) => all.find(({ path }) => path.endsWith(`.${name}`))?.value;
  if (isSentAnywhere(value, { all, changed: all.filter(({ path }) => path.endsWith(".duration")) })) return true;
  const frames = Number(numberAt("num_frames") ?? numberAt("length"));
  const rate = Number(numberAt("frames_per_second") ?? numberAt("fps"));
  // Some models need 4n + 1 frames.
  return Math.abs(frames - 1 - Number(value) * rate) <= 2;
}

const isImageSent = async (assets: unknown, { all }: SeenRequest): Promise<boolean> => {
  const found = await Promise.all(
    (assets as Asset[]).map(async (asset) => {
      const [hash, url] = [hashOf(await asset.bytes()), await asset.url()];
      return all.some(({ value }) => typeof value === "string" && (value.includes(hash) || value === url));
    }),
  );
  return found.every(Boolean);
};

/** Adapters convert masks, so only a new image can be expected. */
const isMaskSent = (_: unknown, { changed }: SeenRequest) =>
  changed.some(({ value }) => typeof value === "string" && /^image \d+x\d+ /.test(value));

/** Names of choices differ in case, and one provider has another word. */
const WORDS: Record<string, unknown[]> = { On: ["ON", "On", true], Off: ["OFF", "Off", false] };
const isWordSent = (value: unknown, { changed }: SeenRequest) => {
  const words = WORDS[String(value)] ?? [value, String(value).toUpperCase()];
  return changed.some((leaf) => words.includes(leaf.value));
};

const LENGTHS: Record<string, string> = { short: "one short sentence", long: "six to ten sentences" };
const isDetailSent = (value: unknown, { changed }: SeenRequest) =>
  changed.some(
    (leaf) =>
      leaf.value === value ||
      String(leaf.value).includes(LENGTHS[String(value)]!) ||
      // One provider returns descriptions of several lengths, from which the adapter selects.
      leaf.path === ".result.description",
  );

/** A size is in pixels, or by the name of its shorter side. */
const isResolutionSent = (value: unknown, { all, changed }: SeenRequest) => {
  const side = String(value).replace(/p$/, "");
  if (/^\d+x\d+$/.test(side)) return isSentAnywhere(side, { all, changed });
  return changed.some((leaf) => String(leaf.value).split(/[x:]/).includes(side) || leaf.value === value);
};

export const PROBE_MODEL = "01990c3e-2f00-7000-8000-00000000abcd";
/** The name of the custom model's file, which Gesso derives from the model. */
export const PROBE_DEPLOYMENT = "probe-deployment";
const isModelSent = (_: unknown, { changed }: SeenRequest) => changed.some(isValue(PROBE_DEPLOYMENT));

const probeImages = ({ images = [] }: Job<Asset>, count = Math.max(1, images.length)) =>
  Array.from({ length: count }, (_, index) => createImageAsset(`probe ${index}`));

const onTheLeft = () => createMaskAsset(64, 64, "west");

const side = (name: "width" | "height"): ParameterProbe => ({
  values: () => (name === "width" ? [960, 500] : [768, 333]),
  isSent: isSideSent(name),
});

export const PROBES: Record<ParameterName, ParameterProbe> = {
  prompt: { ...values("a zeppelin above the alps"), baseline: ({ prompt }) => prompt },
  negative_prompt: values("any umbrellas"),
  images: { values: (job) => [probeImages(job)], baseline: ({ images }) => images, isSent: isImageSent },
  mask: { values: () => [onTheLeft()], baseline: ({ mask }) => mask, isSent: isMaskSent },
  masks: { values: () => [[onTheLeft()]], baseline: ({ masks }) => masks },
  width: side("width"),
  height: side("height"),
  aspect_ratio: {
    values: ({ task }) => ["16:9", "3:4", task === "image.generate" ? "99:1" : "50:11"],
    baseline: (_, value) => (value === "3:4" ? "16:9" : "9:16"),
    isSent: isShapeSent,
  },
  seed: values(123_456_789, 4_000_000_000),
  count: values(2),
  steps: values(23, 90),
  guidance: values(3.25, 60),
  cfg_scale: values(4.5, 25),
  scheduler: values("heun", "karras"),
  model_id: { ...values(PROBE_MODEL), baseline: ({ options }) => options?.model_id, isSent: isModelSent },
  strength_model: values(0.35),
  model_weight: values(0.45),
  lora_low_name: { ...values("probe-low"), baseline: () => "style-low" },
  lora_high_name: { ...values("probe-high"), baseline: () => "style-high" },
  lora_low_strength: values(0.15),
  lora_high_strength: values(0.25),
  lora_1: values("probe-one"),
  upscale_factor: values(3),
  rendering_speed: { ...values("Turbo", "Quality"), isSent: isWordSent },
  style_type: { ...values("Realistic", "Fiction"), isSent: isWordSent },
  magic_prompt_option: { ...values("On", "Off"), isSent: isWordSent },
  resolution: {
    values: ({ task }) => (task === "image.character" ? ["1280", "720"] : ["720p", "1080p"]),
    baseline: ({ task }, value) => (task === "image.character" ? undefined : value === "720p" ? "1080p" : "720p"),
    isSent: isResolutionSent,
  },
  tags: {
    ...values(["villain"]),
    baseline: () => ["hero"],
    needs: { prompt: "@villain and @hero on a beach" },
    isSent: (tags, request) => isSentAnywhere((tags as string[])[0], request),
  },
  multiple: { ...values(true), baseline: () => false, isSent: isChanged },
  remove_shadow: { ...values(true), baseline: () => false, isSent: isChanged },
  grid_position_x: values(11),
  grid_position_y: values(13),
  x_start: values(-17),
  x_end: values(1019),
  y_start: values(-23),
  y_end: values(1031),
  detail: {
    ...values("short", "long"),
    baseline: (_, value) => (value === "short" ? "long" : "short"),
    isSent: isDetailSent,
  },
  language: values("Esperanto"),
  style: values("woodcut"),
  model_type: { ...values("vendorb-imagen4"), baseline: () => "flux-dev" },
  factor: { ...values(4), baseline: () => 2 },
  scale: { ...values(0.5), baseline: () => 0.75 },
  duration: { ...values(5, 37), baseline: () => 3, isSent: isDurationSent },
  fps: { ...values(12, 60), needs: { duration: 5 } },
  motion_bucket_id: values(101),
  mode: { values: ({ task }) => (task === "image.cut" ? ["mask"] : ["stacked", "overlay"]) },
  gap: values(9),
  background: values("#123456"),
  opacity: { ...values(0.25), needs: { mode: "overlay" } },
  output_format: values("webp"),
  invert: values(true),
  preserve_alpha: values(false),
};
