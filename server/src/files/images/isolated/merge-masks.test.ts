import { expect, it } from "vitest";
import { greyValuesFromImage, maskFromGreyValues } from "../../../../test/support/ascii-images.ts";
import { mergeMasks } from "./merge-masks.ts";

const row = (...values: number[]) => maskFromGreyValues([values, values]);
const size = { width: 48, height: 16 };

it("marks what any of the masks marks", async () => {
  const merged = await mergeMasks([await row(255, 0, 0, 0, 0, 90), await row(0, 0, 255, 0, 0, 40)], size, 0);
  expect(await greyValuesFromImage(merged)).toEqual(Array(2).fill([255, 0, 255, 0, 0, 90]));
});

it("extends marked areas by the margin in all directions, and light ones not", async () => {
  const mask = await maskFromGreyValues(
    Array.from({ length: 5 }, (_, y) => Array.from({ length: 5 }, (_, x) => (x === 2 && y === 2 ? 255 : 0))),
    10,
  );
  const grey = await greyValuesFromImage(await mergeMasks([mask], { width: 50, height: 50 }, 3), 1);
  const isMarked = (x: number, y: number) => grey[y]![x] === 255;
  expect([isMarked(17, 17), isMarked(32, 32), isMarked(25, 17)]).toEqual([true, true, true]);
  expect([isMarked(16, 25), isMarked(33, 25), isMarked(25, 33)]).toEqual([false, false, false]);
  expect(grey.flat().filter((value) => value === 255)).toHaveLength(16 * 16);
  const light = await mergeMasks([await row(100, 0, 0, 0, 0, 0)], size, 8);
  expect(await greyValuesFromImage(light)).toEqual(Array(2).fill([100, 0, 0, 0, 0, 0]));
});
