import { expect, it } from "vitest";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { createVideo } from "./generate-with-any-model.ts";

const run = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

it("is a job without images for a text alone, and one with the first frame", () => {
  const [text] = buildJobs(createVideo, { prompt: "waves" });
  expect(text).toMatchObject({ task: "video.generate", model: "video-default", prompt: "waves", aspect_ratio: "16:9" });
  expect(text?.images).toBeUndefined();
  expect(text?.options).toEqual({ duration: 3 });
  const [framed] = buildJobs(createVideo, { prompt: "waves", image: { run_id: run, output_index: 1 }, fps: 12 });
  expect(framed).toMatchObject({ images: [{ run, output: 1 }], options: { duration: 3, fps: 12 } });
});

it("goes to the named model", () => {
  expect(buildJobs(createVideo, { prompt: "waves", model: "luma:ray-2" })[0]).toMatchObject({ model: "luma:ray-2" });
});

it("needs a prompt", () => {
  expect(() => buildJobs(createVideo, { image: run })).toThrow("1 field is invalid: prompt.");
});
