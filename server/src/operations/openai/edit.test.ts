import { expect, it } from "vitest";
import { builtInModelFacts } from "../../../test/support/operation-plans.ts";
import { parseInput } from "../../contract/parse.ts";
import { findOperation } from "../all.ts";
import { editForOpenAi } from "./edit.ts";
import { generateForOpenAi } from "./generate.ts";

const URLS = Array.from({ length: 16 }, (_, index) => `https://example.com/${index}.png`);
const plan = (raw: object) => {
  const { input, provided } = parseInput(editForOpenAi, { prompt: "make it snow", ...raw }, "json");
  return editForOpenAi.plan!(input, provided, builtInModelFacts);
};

it("sends all images of an edit to the model, in order", () => {
  expect(plan({ images: URLS, model_type: "vendora", n: 10, aspect_ratio: "3:2" })).toEqual([
    {
      ...{ task: "image.edit", model: "vendora", prompt: "make it snow", count: 10, aspect_ratio: "3:2" },
      images: URLS.map((url) => ({ url })),
      mask: undefined,
      seed: undefined,
    },
  ]);
});

it("restores everything outside of the mask in the first image", () => {
  const [edit, blend] = plan({ images: URLS.slice(0, 2), mask: "https://example.com/mask.png" });
  const mask = { url: "https://example.com/mask.png" };
  expect(edit).toMatchObject({ model: "edit-default", mask, images: [{ url: URLS[0] }, { url: URLS[1] }] });
  expect(blend).toMatchObject({ task: "image.blend", images: [{ url: URLS[0] }, { job: 0, every: true }], mask });
});

it("refuses 17 images and 11 results", () => {
  expect(() => plan({ images: [...URLS, URLS[0]] })).toThrow("images");
  expect(() => plan({ images: URLS, n: 11 })).toThrow("n");
});

it("plans ten images for one request", () => {
  const { input, provided } = parseInput(generateForOpenAi, { prompt: "a bicycle", batch_size: 10 }, "json");
  expect(generateForOpenAi.plan!(input, provided, builtInModelFacts)).toMatchObject([
    { task: "image.generate", count: 10 },
  ]);
});

it("is found by its name, so that its runs can be repeated", () => {
  expect(findOperation("images.edit.openai")).toBe(editForOpenAi);
  expect(findOperation("images.generate.openai")).toBe(generateForOpenAi);
});
