import { expect, it } from "vitest";
import { importModel } from "../../models/import-model.ts";
import { createInputValidator } from "../../models/validate-input.ts";
import { publishModel, toModelResult, toSandboxJob } from "./sandbox-models.ts";

const imported = (path: string) => {
  const result = importModel("sandbox", path, publishModel(path));
  if ("refused" in result) throw new Error(result.refused);
  return result.model;
};

it.each(["replay/studio", "find/studio", "blind/studio", "replay/clip"])("%s can be imported", (path) => {
  const { media, order, title } = imported(path);
  expect([media.input.length, media.output.length, order.length > 2, title]).toEqual([
    ...[1, 1, true, `Sandbox ${path.split("/")[1]}`],
  ]);
});

it("a path that the sandbox does not have is not published", () => {
  for (const path of ["studio", "replay/other", "replay/studio/edit"]) expect(publishModel(path)).toBeUndefined();
});

it("an input becomes a job of the sandbox, and its result fits what is announced", () => {
  const validator = createInputValidator();
  const studio = imported("replay/studio");
  const input = { prompt: "a boat", width: 128, height: 64, num_images: 2, seed: 7 };
  expect(validator.findIssues(studio, input)).toEqual([]);
  expect(validator.findIssues(studio, { ...input, wdith: 5 })).toMatchObject([{ path: "/input/wdith" }]);
  expect(toSandboxJob(input)).toEqual({
    ...{ task: "image.generate", prompt: "a boat", width: 128, height: 64, seed: 7, count: 2 },
  });
  expect(toSandboxJob({ prompt: "at night", image_urls: [null] })).toMatchObject({ task: "image.edit" });
  expect(toSandboxJob({ image_url: null, duration: "4s" })).toMatchObject({
    ...{ task: "video.generate", options: { duration: 4 } },
  });
  const url = "http://sandbox.example/1";
  expect(toModelResult([{ url, media_type: "image/png" }])).toEqual({ images: [{ url, content_type: "image/png" }] });
  expect(toModelResult([{ url, media_type: "video/mp4" }])).toEqual({ video: { url, content_type: "video/mp4" } });
});
