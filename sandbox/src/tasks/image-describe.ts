// Describes an image from its pixels.
import { z } from "zod";
import { describeImage, promptOf, tagsOf } from "../text/describe-image.ts";
import { descriptionLanguageFor } from "../text/description-languages.ts";
import { summarizeImage } from "../vision/image-summary.ts";
import { flattenOnWhite, readSource, uprightSize } from "../vision/pixels.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, noFileOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({
  detail: z.enum(["short", "normal", "long"]).default("normal"),
  language: z.string().optional(),
});

/** The analysis needs no more pixels than this. */
const lookSide = 1024;

export const imageDescribe: Task = {
  name: "image.describe",
  validate: (request) => findRequestProblem(request, { image: true, options: Options }),
  find: async ({ request, inputs }) => {
    const image = (await inputs())[0]!;
    const { detail, language } = parseOptions(Options, request);
    const size = await uprightSize(image);
    const view = { ...(await summarizeImage(flattenOnWhite(await readSource(image, lookSide)))), ...size };
    const sheet = descriptionLanguageFor(language);
    const description = describeImage(view, detail, sheet);
    return { outputs: [], data: { description, tags: tagsOf(view, sheet), prompt: promptOf(view), ...size } };
  },
  renderOutput: noFileOutputs,
};
