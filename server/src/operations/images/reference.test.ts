import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  parseOperationInput,
  RUN_ID,
  URL_A,
  warningsOf,
} from "../../../test/support/operation-plans.ts";
import { generateFromReferences as reference } from "./reference.ts";

const tagged = (tag: string) => ({ image_reference: URL_A, tag });

describe("a generation from references", () => {
  it("sends the images with their tags in the same order", () => {
    const images = [tagged("hero"), { image_reference: RUN_ID, tag: "lamp" }];
    expect(buildJobs(reference, { prompt: "@hero", images, resolution: "720p" })).toEqual([
      {
        task: "image.reference",
        model: "reference-default",
        prompt: "@hero",
        images: [{ url: URL_A }, { run: RUN_ID }],
        options: { tags: ["hero", "lamp"], resolution: "720p" },
      },
    ]);
  });

  it("needs no image", () => {
    expect(buildJobs(reference, { prompt: "x" })).toEqual([
      { task: "image.reference", model: "reference-default", prompt: "x" },
    ]);
  });

  it("removes the @ of a tag, with a warning", () => {
    const raw = { prompt: "x", images: [tagged("@hero"), tagged("lamp")] };
    expect(parseOperationInput(reference, raw).input.images).toEqual([tagged("hero"), tagged("lamp")]);
    expect(warningsOf(reference, raw)).toEqual(["The tag @hero was read as hero."]);
  });

  it.each<[object, string]>([
    [{ images: [tagged("h")] }, "/images/0/tag unknown_value"],
    [{ images: [tagged("hero!")] }, "/images/0/tag unknown_value"],
    [{ images: Array(4).fill(tagged("hero")) }, "/images too_many_items"],
    [{ images: [{ ...tagged("hero"), colour: 1 }] }, "/images/0/colour unknown_field"],
    [{ images: [{ tag: "hero" }] }, "/images/0/image_reference required"],
    [{ images: "[broken" }, "/images invalid_type"],
    [{ aspect_ratio: "2:3" }, "/aspect_ratio unknown_value"],
    [{ resolution: "4k" }, "/resolution unknown_value"],
  ])("%j is refused with %s", (raw, complaint) => {
    expect(listValidationErrors(reference, { prompt: "x", ...raw })).toEqual([complaint]);
  });
});
