// Takes things out of a picture and fills their place from the surroundings; nothing else changes.
import { z } from "zod";
import { filled } from "../retouch/fill.ts";
import { readMask } from "../retouch/mask.ts";
import { holeFor } from "../retouch/removal.ts";
import { onWhite, readSource, type Source, toPng } from "../sight/pixels.ts";
import type { Order, Task } from "./task.ts";
import { complaintAbout, optionsOf, pictures } from "./terms.ts";

const Options = z.object({ remove_shadow: z.boolean().default(true), multiple: z.boolean().default(false) });

/** What is to go, and how many things that are. A mask goes before words. */
const holeIn = async (source: Source, { request, inputs }: Pick<Order, "request" | "inputs">) => {
  if (request.mask) {
    const mask = await readMask((await inputs()).at(-1)!, source);
    return { hole: mask.map((value) => (value >= 128 ? 255 : 0)) as Buffer, found: 1 };
  }
  const { remove_shadow, multiple } = optionsOf(Options, request);
  return holeFor(onWhite(source), { prompt: request.prompt, isMultiple: multiple, hasShadow: remove_shadow });
};

export const imageRemove: Task = {
  name: "image.remove",
  complaint: (request) => {
    if (!request.prompt && !request.mask) return "prompt: is required without a mask";
    return complaintAbout(request, { image: true, options: Options });
  },
  find: async (work) => {
    const source = await readSource((await work.inputs())[0]!);
    const { found } = await holeIn(source, work);
    return pictures(work.request, source, { found });
  },
  draw: async (order) => {
    const source = await readSource((await order.inputs())[0]!);
    const { hole } = await holeIn(source, order);
    return toPng(filled(source, hole, order.seed + order.index), source.alpha);
  },
};
