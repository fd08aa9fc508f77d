// Takes things out of an image and fills their place from the surroundings; nothing else changes.
import { z } from "zod";
import { inpaint } from "../retouch/fill.ts";
import { readMask } from "../retouch/mask.ts";
import { removalMask } from "../retouch/removal.ts";
import { flattenOnWhite, readSource, type Source, toPng } from "../vision/pixels.ts";
import type { OutputRequest, Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({ remove_shadow: z.boolean().default(true), multiple: z.boolean().default(false) });

/** What is to go, and how many things that are. A mask goes before words. */
const holeIn = async (source: Source, { request, inputs }: Pick<OutputRequest, "request" | "inputs">) => {
  if (request.mask) {
    const mask = await readMask((await inputs()).at(-1)!, source);
    return { hole: mask.map((value) => (value >= 128 ? 255 : 0)) as Buffer, found: 1 };
  }
  const { remove_shadow, multiple } = parseOptions(Options, request);
  return removalMask(flattenOnWhite(source), {
    prompt: request.prompt,
    isMultiple: multiple,
    hasShadow: remove_shadow,
  });
};

export const imageRemove: Task = {
  name: "image.remove",
  validate: (request) => {
    if (!request.prompt && !request.mask) return "prompt: is required without a mask";
    return findRequestProblem(request, { image: true, options: Options });
  },
  find: async (work) => {
    const source = await readSource((await work.inputs())[0]!);
    const { found } = await holeIn(source, work);
    return imageOutputs(work.request, source, { found });
  },
  renderOutput: async (order) => {
    const source = await readSource((await order.inputs())[0]!);
    const { hole } = await holeIn(source, order);
    return toPng(inpaint(source, hole, order.seed + order.index), source.alpha);
  },
};
