import { z } from "zod";
import { everyRun, runId, words } from "../../kit/fields.ts";
import { file } from "../../kit/files.ts";
import { givenOf } from "../../kit/given.ts";
import { firstSource, picture } from "../../kit/images.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Description } from "../../kit/shapes.ts";

export const describeImage = defineOperation({
  name: "images.describe",
  summary: "Say what an image shows",
  http: { method: "POST", path: "/images/describe", bodies: ["json", "form"] },
  run_type: "describe",

  input: z.object({
    image_url: picture("The image").optional(),
    run_id: runId("The run whose image is described; it becomes the parent").optional(),
    image: file("The image as a file; it goes before the others").optional(),
    detail: z.enum(["short", "normal", "long"]).default("normal").describe("How much is said"),
    language: words("Language of the description, such as en or de", 64).optional(),
    ...everyRun,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Description,
  example: { image_url: "https://example.com/desk.png", detail: "short", sync: true },

  parent: (asked) => asked.run_id,
  plan: (asked, given) => [
    {
      task: "image.describe",
      model: "describe-default",
      images: [firstSource(asked.image, asked.image_url, asked.run_id)!],
      options: { detail: asked.detail, ...givenOf(asked, given, ["language"]) },
    },
  ],
  reply: (run, { data }) => {
    const { description, tags, prompt, width, height } = data ?? {};
    return {
      run_id: run.run_id,
      status: run.status,
      ...(data && { description, tags, prompt, width, height }),
      ...(run.error && { error: run.error }),
    };
  },
});
