import { expect, test } from "vitest";
import { findResultProblem } from "./convert-output.ts";

test("the file of a model is of the medium that its schema announces, and an animated GIF is a video", () => {
  const problemOf = (mediaType: string, kind: "image" | "video" | "audio" | "text") =>
    findResultProblem("model.run", mediaType, kind);
  expect(problemOf("video/mp4", "video")).toBeUndefined();
  expect(problemOf("image/gif", "video")).toBeUndefined();
  expect(problemOf("image/gif", "image")).toBeUndefined();
  expect(problemOf("image/png", "video")).toBe("not_video");
  expect(problemOf("image/gif", "audio")).toBe("not_audio");
  expect(problemOf("application/json", "text")).toBeUndefined();
});
