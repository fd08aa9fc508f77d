// An image without its background: transparent where only the background was, with a soft edge around the rest.
import { foregroundMask } from "../vision/find-objects.ts";
import { flattenOnWhite, readSource, toPng, uprightSize } from "../vision/pixels.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs } from "./task-requirements.ts";

export const imageRemoveBackground: Task = {
  name: "image.remove-background",
  validate: (request) => findRequestProblem(request, { image: true }),
  find: async ({ request, inputs }) => imageOutputs(request, await uprightSize((await inputs())[0]!)),
  renderOutput: async ({ inputs }) => {
    const source = await readSource((await inputs())[0]!);
    const { alpha, insideColour, isEmpty } = await foregroundMask(flattenOnWhite(source));
    // An image that is all background is returned unchanged instead of empty.
    if (isEmpty) alpha.fill(255);
    const rgb = Buffer.from(source.rgb);
    for (let pixel = 0; pixel < alpha.length; pixel += 1) {
      const share = alpha[pixel]!;
      const colour = share > 0 && share < 255 ? insideColour(pixel) : undefined;
      for (let channel = 0; channel < 3 && colour; channel += 1)
        rgb[pixel * 3 + channel] = Math.round(colour[channel]!);
      if (source.alpha) alpha[pixel] = Math.round((share * source.alpha[pixel]!) / 255);
    }
    return toPng({ ...source, rgb }, alpha);
  },
};
