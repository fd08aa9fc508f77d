// A scene with a person who looks the same for the same reference.
import { z } from "zod";
import { traitsFromPrompt, traitsFromReference } from "../drawing/character-traits.ts";
import { drawImage, modelBaseName } from "../drawing/draw-image.ts";
import { knoll } from "../drawing/figures.ts";
import { drawPerson, type PersonStyle, type Pose, type Traits } from "../drawing/person.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { drawStamp } from "../drawing/stamp.ts";
import type { StoredRequest } from "../request.ts";
import { blendByMask, boundingBox, featherMask, readMask } from "../retouch/mask.ts";
import { resolveSize, type Size } from "../size.ts";
import { enhance } from "../text/enhance-prompt.ts";
import { fitWithin, overlayImages, pixelsOf, toPng, uprightSize } from "../vision/pixels.ts";
import type { OutputRequest, Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const resolutions = ["auto", "720", "1024", "1280", "2048"] as const;
/** Gesso sends what the imitated provider would get: a size of that provider's list. */
const SIZE = /^(\d{2,4})x(\d{2,4})$/;
const Options = z.object({
  rendering_speed: z.enum(["Default", "Turbo", "Quality"]).default("Default"),
  style_type: z.enum(["Auto", "Fiction", "Realistic"]).default("Auto"),
  magic_prompt_option: z.enum(["On", "Off", "Auto"]).default("Auto"),
  resolution: z.preprocess(
    (value) => (typeof value === "number" ? String(value) : value),
    z.union([z.enum(resolutions), z.string().regex(SIZE)]).default("auto"),
  ),
});

/** The resolution is a size, or the longer side of the requested shape. */
const sizeFor = (request: StoredRequest, context: Size | undefined): Size => {
  const { resolution } = parseOptions(Options, request);
  const size = SIZE.exec(resolution);
  if (size) return { width: Number(size[1]), height: Number(size[2]) };
  const hasShape = request.aspect_ratio || request.width || request.height;
  const plain = !hasShape && context ? fitWithin(context, 2048) : resolveSize(request);
  if (resolution === "auto" || request.width || request.height) return plain;
  const scale = Number(resolution) / Math.max(plain.width, plain.height);
  const toStep = (side: number) => Math.max(16, Math.round((side * scale) / 8) * 8);
  return { width: toStep(plain.width), height: toStep(plain.height) };
};

/** "Auto" only extends short prompts. */
const promptFor = (request: StoredRequest, seed: number): string => {
  const { magic_prompt_option: magic } = parseOptions(Options, request);
  const isShort = request.prompt.trim().split(/\s+/).length < 4;
  if (magic === "Off" || (magic === "Auto" && !isShort)) return request.prompt;
  return enhance({ prompt: request.prompt, seed, style: undefined, modelType: undefined, language: "en" })
    .enhanced_prompt;
};

const lookFor = (request: StoredRequest): PersonStyle => {
  const { style_type, rendering_speed } = parseOptions(Options, request);
  return {
    isOutlined: style_type === "Fiction",
    isShaded: style_type === "Realistic" || rendering_speed === "Quality",
  };
};

const poses: readonly Pose[] = ["wave", "rest", "cheer"];

type Cast = { traits: Traits; pose: Pose; look: PersonStyle };

const castFor = async ({ request, seed, index, inputs }: OutputRequest): Promise<Cast> => {
  const reference = request.images.length ? (await inputs())[0] : undefined;
  const traits = reference ? await traitsFromReference(reference) : traitsFromPrompt(request.prompt, seed);
  return {
    traits,
    pose: createSeededRandom(`pose ${request.prompt} ${seed} ${index}`).pick(poses),
    look: lookFor(request),
  };
};

/** Inserts the person into an image of the request: within the mask if there is one, and nothing else changes. */
const inContext = async (order: OutputRequest, size: Size, { traits, pose, look }: Cast): Promise<Buffer> => {
  const { request } = order;
  const all = await order.inputs();
  const ground = await pixelsOf(all[1]!, size);
  const mask = request.mask ? await readMask(all.at(-1)!, size, "cover") : undefined;
  const box = (mask && boundingBox(mask, size)) ?? {
    x: 0,
    y: size.height * 0.3,
    width: size.width,
    height: size.height * 0.62,
  };
  const height = Math.min(box.height * 0.96, box.width * 1.9);
  const drawn = drawPerson(traits, { x: box.x + box.width / 2, foot: box.y + box.height * 0.97, height }, pose, look);
  const stamp = mask ? "" : drawStamp(size, { model: modelBaseName(request.model), prompt: request.prompt });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${drawn}${stamp}</svg>`;
  const result = await overlayImages(ground, [{ input: Buffer.from(svg) }]);
  return toPng(mask ? blendByMask(ground, result, await featherMask(mask, size)) : result);
};

const inScene = (order: OutputRequest, size: Size, { traits, pose, look }: Cast): Promise<Buffer> => {
  const { request, seed, index } = order;
  const x = createSeededRandom(`place ${request.prompt} ${seed} ${index}`).between(0.6, 0.76);
  return drawImage({
    prompt: promptFor(request, seed),
    title: request.prompt,
    model: request.model,
    ...size,
    seed,
    index,
    actor: (stage) => {
      const foot = stage.height * 0.84;
      const height = Math.min(stage.height * 0.56, stage.width * 0.8);
      return knoll(stage, foot - height * 0.03) + drawPerson(traits, { x: stage.width * x, foot, height }, pose, look);
    },
  });
};

const contextSize = async ({
  request,
  inputs,
}: Pick<OutputRequest, "request" | "inputs">): Promise<Size | undefined> =>
  request.images.length > 1 ? uprightSize((await inputs())[1]!) : undefined;

export const imageCharacter: Task = {
  name: "image.character",
  validate: (request) => findRequestProblem(request, { prompt: true, options: Options }),
  find: async (work) => {
    const size = sizeFor(work.request, await contextSize(work));
    return imageOutputs(work.request, size, { prompt: promptFor(work.request, work.seed) });
  },
  renderOutput: async (order) => {
    const context = await contextSize(order);
    const size = sizeFor(order.request, context);
    const cast = await castFor(order);
    return context ? inContext(order, size, cast) : inScene(order, size, cast);
  },
};
