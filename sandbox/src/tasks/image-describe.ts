// A picture in words, from what is really in it.
import { z } from "zod";
import { onWhite, readSource, uprightSize } from "../sight/pixels.ts";
import { viewOf } from "../sight/view.ts";
import { describeView, promptOf, tagsOf } from "../words/describe.ts";
import { sheetFor } from "../words/sheets.ts";
import type { Task } from "./task.ts";
import { complaintAbout, noPictures, optionsOf } from "./terms.ts";

const Options = z.object({
  detail: z.enum(["short", "normal", "long"]).default("normal"),
  language: z.string().optional(),
});

/** Nothing that is said about a picture needs more pixels than this. */
const lookSide = 1024;

export const imageDescribe: Task = {
  name: "image.describe",
  complaint: (request) => complaintAbout(request, { image: true, options: Options }),
  find: async ({ request, inputs }) => {
    const image = (await inputs())[0]!;
    const { detail, language } = optionsOf(Options, request);
    const size = await uprightSize(image);
    const view = { ...(await viewOf(onWhite(await readSource(image, lookSide)))), ...size };
    const sheet = sheetFor(language);
    const description = describeView(view, detail, sheet);
    return { outputs: [], data: { description, tags: tagsOf(view, sheet), prompt: promptOf(view), ...size } };
  },
  draw: noPictures,
};
