// A scene with the images in it that the prompt calls by their tags, in the order in which it calls them.
import sharp from "sharp";
import { z } from "zod";
import { drawImage } from "../drawing/draw-image.ts";
import type { StoredRequest } from "../request.ts";
import { drawInsets } from "../retouch/inset.ts";
import { resolveSize, type Size } from "../size.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({
  tags: z.array(z.string().min(1)).max(16).default([]),
  resolution: z.enum(["720p", "1080p"]).optional(),
});

const longestSide = 2048;

/** A resolution is the shorter side, as with videos. */
const sizeFor = (request: StoredRequest): Size => {
  const { resolution } = parseOptions(Options, request);
  const plain = resolveSize(request);
  if (!resolution || request.width || request.height) return plain;
  const [across = 1, down = 1] = (request.aspect_ratio ?? "16:9").split(":").map(Number);
  const ratio = across / down;
  const short = Math.min(Number.parseInt(resolution, 10), longestSide / Math.max(ratio, 1 / ratio));
  const even = (side: number) => Math.round(side / 2) * 2;
  return { width: even(short * Math.max(1, ratio)), height: even(short * Math.max(1, 1 / ratio)) };
};

/** Which images the prompt calls, each once, in its order. */
const calledIn = (request: StoredRequest): { tag: string; place: number }[] => {
  const tags = parseOptions(Options, request).tags.map((tag) => tag.replace(/^@/, "").toLowerCase());
  const called = [...request.prompt.matchAll(/@([\p{L}\p{N}_-]+)/gu)].map(([, tag = ""]) => tag.toLowerCase());
  return [...new Set(called)]
    .map((tag) => ({ tag, place: tags.indexOf(tag) }))
    .filter(({ place }) => place >= 0 && place < request.images.length);
};

export const imageReference: Task = {
  name: "image.reference",
  validate: (request) => {
    const { tags } = Options.safeParse(request.options ?? {}).data ?? { tags: [] };
    if (tags.length > request.images.length) return "options.tags: there are more tags than images";
    return findRequestProblem(request, { prompt: true, options: Options });
  },
  find: async ({ request }) =>
    imageOutputs(request, sizeFor(request), { tags: calledIn(request).map(({ tag }) => tag) }),
  renderOutput: async ({ request, seed, index, inputs }) => {
    const size = sizeFor(request);
    const called = calledIn(request);
    const images = called.length ? await inputs() : [];
    const scene = await drawImage({ prompt: request.prompt, model: request.model, ...size, seed, index });
    const list = called.map(({ tag, place }) => ({ image: images[place]!, label: `@${tag}` }));
    const { width, height } = size;
    const box = { x: width * 0.04, y: height * 0.05, width: width * 0.92, height: height * 0.68 };
    return sharp(scene)
      .composite(list.length ? await drawInsets(list, box, size, `${seed} ${index}`) : [])
      .removeAlpha()
      .png({ compressionLevel: 6 })
      .toBuffer();
  },
};
