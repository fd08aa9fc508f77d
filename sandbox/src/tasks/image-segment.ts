// Masks of what a prompt names in a picture: white where it is, black elsewhere, as large as the picture.
import { z } from "zod";
import { findIn } from "../sight/find.ts";
import { onWhite, readSource, toGreyPng } from "../sight/pixels.ts";
import type { Order, Task } from "./task.ts";
import { complaintAbout, optionsOf, pngOf } from "./terms.ts";

const Options = z.object({ multiple: z.boolean().default(false) });

const findAll = async ({ request, inputs }: Pick<Order, "request" | "inputs">) => {
  const pixels = onWhite(await readSource((await inputs())[0]!));
  return { pixels, found: await findIn(pixels, request.prompt, optionsOf(Options, request).multiple) };
};

export const imageSegment: Task = {
  name: "image.segment",
  complaint: (request) => complaintAbout(request, { prompt: true, image: true, options: Options }),
  find: async (work) => {
    const { pixels, found } = await findAll(work);
    const outputs = found.map(({ alpha, ...rest }) => ({ ...pngOf(pixels), ...rest }));
    return { outputs, data: { found: outputs.length } };
  },
  draw: async (order) => {
    const { pixels, found } = await findAll(order);
    return toGreyPng(found[order.index]!.alpha, pixels);
  },
};
