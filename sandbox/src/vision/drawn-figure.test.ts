// Figures of the sandbox's own drawings are found whole, and not where they are missing.
import { expect, test } from "vitest";
import { drawImage } from "../drawing/draw-image.ts";
import { findObjects } from "./find-objects.ts";
import { flattenOnWhite, readSource } from "./pixels.ts";

const find = async (prompt: string, query: string, { width = 480, height = 320 } = {}) => {
  const drawing = await drawImage({ prompt, model: "flux-dev", width, height, seed: 7, index: 0 });
  const [found] = await findObjects(flattenOnWhite(await readSource(drawing)), query, false);
  return found;
};

test.each([
  ["a red balloon over hills", "the balloon", { x: 108, y: 26, width: 71, height: 107 }],
  ["a blue balloon over hills", "the balloon", { x: 108, y: 26, width: 71, height: 107 }],
  ["a boat on the sea at dawn", "the boat", { x: 234, y: 131, width: 108, height: 108 }],
  ["a car in the city", "the car", { x: 195, y: 154, width: 149, height: 94 }],
])("in %s, %s is found whole", async (prompt, query, box) => {
  expect(await find(prompt, query)).toMatchObject({ score: 0.99, box });
});

test("a figure beside another is found at its own place", async () => {
  const [dog, cat] = [await find("a dog and a cat", "the dog"), await find("a dog and a cat", "the cat")];
  expect(dog!.box.height).toBeGreaterThan(cat!.box.height);
  expect(cat!.box.x + cat!.box.width).toBeLessThan(dog!.box.x + dog!.box.width);
});

test.each([
  ["a dog in a meadow", "the cat"],
  ["mountains at dawn", "the house"],
  ["a geometric pattern", "the bird"],
])("in %s, %s has no outline", async (prompt, query) => {
  expect((await find(prompt, query))?.score ?? 0).toBeLessThan(0.99);
});
