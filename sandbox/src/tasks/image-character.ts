// A scene with somebody in it who looks the same wherever the same reference is given.
import { z } from "zod";
import { traitsOfReference, traitsOfWords } from "../picture/cast.ts";
import { chanceOf } from "../picture/chance.ts";
import { knoll } from "../picture/figures.ts";
import { type Look, type Pose, person, type Traits } from "../picture/person.ts";
import { bareName, drawPicture } from "../picture/picture.ts";
import type { KeptRequest } from "../request.ts";
import { blended, boxOf, feathered, readMask } from "../retouch/mask.ts";
import { tag } from "../retouch/tag.ts";
import { fitted, overlaid, pixelsOf, toPng, uprightSize } from "../sight/pixels.ts";
import { type Size, sizeOf } from "../size.ts";
import { enhance } from "../words/enhance.ts";
import type { Order, Task } from "./task.ts";
import { complaintAbout, optionsOf, pictures } from "./terms.ts";

const resolutions = ["auto", "720", "1024", "1280", "2048"] as const;
const Options = z.object({
  rendering_speed: z.enum(["Default", "Turbo", "Quality"]).default("Default"),
  style_type: z.enum(["Auto", "Fiction", "Realistic"]).default("Auto"),
  magic_prompt_option: z.enum(["On", "Off", "Auto"]).default("Auto"),
  resolution: z.preprocess(
    (value) => (typeof value === "number" ? String(value) : value),
    z.enum(resolutions).default("auto"),
  ),
});

/** The resolution is the longer side of the shape asked for. */
const sizeFor = (request: KeptRequest, context: Size | undefined): Size => {
  const { resolution } = optionsOf(Options, request);
  const hasShape = request.aspect_ratio || request.width || request.height;
  const plain = !hasShape && context ? fitted(context, 2048) : sizeOf(request);
  if (resolution === "auto" || request.width || request.height) return plain;
  const scale = Number(resolution) / Math.max(plain.width, plain.height);
  const toStep = (side: number) => Math.max(16, Math.round((side * scale) / 8) * 8);
  return { width: toStep(plain.width), height: toStep(plain.height) };
};

/** "Auto" only helps prompts that say little. */
const promptFor = (request: KeptRequest, seed: number): string => {
  const { magic_prompt_option: magic } = optionsOf(Options, request);
  const isShort = request.prompt.trim().split(/\s+/).length < 4;
  if (magic === "Off" || (magic === "Auto" && !isShort)) return request.prompt;
  return enhance({ prompt: request.prompt, seed, style: undefined, modelType: undefined, language: "en" })
    .enhanced_prompt;
};

const lookFor = (request: KeptRequest): Look => {
  const { style_type, rendering_speed } = optionsOf(Options, request);
  return {
    isOutlined: style_type === "Fiction",
    isShaded: style_type === "Realistic" || rendering_speed === "Quality",
  };
};

const poses: readonly Pose[] = ["wave", "rest", "cheer"];

type Cast = { traits: Traits; pose: Pose; look: Look };

const castFor = async ({ request, seed, index, inputs }: Order): Promise<Cast> => {
  const reference = request.images.length ? (await inputs())[0] : undefined;
  const traits = reference ? await traitsOfReference(reference) : traitsOfWords(request.prompt, seed);
  return { traits, pose: chanceOf(`pose ${request.prompt} ${seed} ${index}`).pick(poses), look: lookFor(request) };
};

/** Into a picture that came along: within the mask if there is one, and nothing else changes then. */
const inContext = async (order: Order, size: Size, { traits, pose, look }: Cast): Promise<Buffer> => {
  const { request } = order;
  const all = await order.inputs();
  const ground = await pixelsOf(all[1]!, size);
  const mask = request.mask ? await readMask(all.at(-1)!, size, "cover") : undefined;
  const box = (mask && boxOf(mask, size)) ?? {
    x: 0,
    y: size.height * 0.3,
    width: size.width,
    height: size.height * 0.62,
  };
  const height = Math.min(box.height * 0.96, box.width * 1.9);
  const drawn = person(traits, { x: box.x + box.width / 2, foot: box.y + box.height * 0.97, height }, pose, look);
  const mark = mask ? "" : tag(size, bareName(request.model));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${drawn}${mark}</svg>`;
  const result = await overlaid(ground, [{ input: Buffer.from(svg) }]);
  return toPng(mask ? blended(ground, result, await feathered(mask, size)) : result);
};

const inScene = (order: Order, size: Size, { traits, pose, look }: Cast): Promise<Buffer> => {
  const { request, seed, index } = order;
  const x = chanceOf(`place ${request.prompt} ${seed} ${index}`).between(0.6, 0.76);
  return drawPicture({
    prompt: promptFor(request, seed),
    title: request.prompt,
    model: request.model,
    ...size,
    seed,
    index,
    actor: (stage) => {
      const foot = stage.height * 0.84;
      const height = Math.min(stage.height * 0.56, stage.width * 0.8);
      return knoll(stage, foot - height * 0.03) + person(traits, { x: stage.width * x, foot, height }, pose, look);
    },
  });
};

const contextSize = async ({ request, inputs }: Pick<Order, "request" | "inputs">): Promise<Size | undefined> =>
  request.images.length > 1 ? uprightSize((await inputs())[1]!) : undefined;

export const imageCharacter: Task = {
  name: "image.character",
  complaint: (request) => complaintAbout(request, { prompt: true, options: Options }),
  find: async (work) => {
    const size = sizeFor(work.request, await contextSize(work));
    return pictures(work.request, size, { prompt: promptFor(work.request, work.seed) });
  },
  draw: async (order) => {
    const context = await contextSize(order);
    const size = sizeFor(order.request, context);
    const cast = await castFor(order);
    return context ? inContext(order, size, cast) : inScene(order, size, cast);
  },
};
