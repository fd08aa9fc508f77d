// Masks of what a prompt names in an image: white where it is, black elsewhere, as large as the image.
import { z } from "zod";
import { findObjects } from "../vision/find-objects.ts";
import { flattenOnWhite, readSource, toGreyPng } from "../vision/pixels.ts";
import type { OutputRequest, Task } from "./task.ts";
import { findRequestProblem, parseOptions, pngOutput } from "./task-requirements.ts";

const Options = z.object({ multiple: z.boolean().default(false) });

const findAll = async ({ request, inputs }: Pick<OutputRequest, "request" | "inputs">) => {
  const pixels = flattenOnWhite(await readSource((await inputs())[0]!));
  return { pixels, found: await findObjects(pixels, request.prompt, parseOptions(Options, request).multiple) };
};

export const imageSegment: Task = {
  name: "image.segment",
  validate: (request) => findRequestProblem(request, { prompt: true, image: true, options: Options }),
  find: async (work) => {
    const { pixels, found } = await findAll(work);
    const outputs = found.map(({ alpha, ...rest }) => ({ ...pngOutput(pixels), ...rest }));
    return { outputs, data: { found: outputs.length } };
  },
  renderOutput: async (order) => {
    const { pixels, found } = await findAll(order);
    return toGreyPng(found[order.index]!.alpha, pixels);
  },
};
