import { expect, it } from "vitest";
import { floodFill } from "./flood-fill.ts";
import { clipRectangle, combineMasks, createMask, describeMask, fillRectangle, invertMask } from "./mask.ts";
import { fillPolygon } from "./polygon.ts";
import { paintSegment } from "./stroke.ts";

const HARD = { hardness: 1, isEraser: false };

it("keeps rectangles within the image, in whole pixels", () => {
  const mask = createMask(20, 10);
  expect(clipRectangle(mask, { x: -5, y: 2.4, width: 10, height: 3 })).toEqual({ x: 0, y: 2, width: 5, height: 4 });
  expect(clipRectangle(mask, { x: 20, y: 0, width: 5, height: 5 })).toBeUndefined();
});

it("says how much is marked and where", () => {
  const mask = createMask(20, 10);
  expect(describeMask(mask)).toEqual({ markedPixels: 0, share: 0, bounds: undefined, isEmpty: true });
  fillRectangle(mask, { x: 4, y: 3, width: 10, height: 5 }, 255);
  expect(describeMask(mask)).toMatchObject({ share: 0.25, bounds: { x: 4, y: 3, width: 10, height: 5 } });
  invertMask(mask);
  expect(describeMask(mask)).toMatchObject({ share: 0.75, bounds: { x: 0, y: 0, width: 20, height: 10 } });
});

it("adds, subtracts and replaces another mask", () => {
  const other = Uint8Array.of(0, 100, 255);
  const combined = (mode: "add" | "subtract" | "replace") => {
    const mask = { width: 3, height: 1, values: Uint8Array.of(50, 200, 200) };
    combineMasks(mask, other, mode);
    return [...mask.values];
  };
  expect(combined("add")).toEqual([50, 200, 255]);
  expect(combined("subtract")).toEqual([50, 155, 0]);
  expect(combined("replace")).toEqual([0, 100, 255]);
});

it("paints a line without gaps and does not darken what it crosses twice", () => {
  const mask = createMask(60, 20);
  const [from, to] = [
    { x: 10, y: 10, radius: 4 },
    { x: 50, y: 10, radius: 4 },
  ];
  expect(paintSegment(mask, from, to, HARD)).toEqual({ x: 5, y: 5, width: 50, height: 10 });
  const once = mask.values.slice();
  paintSegment(mask, to, from, HARD);
  expect(mask.values).toEqual(once);
  for (let x = 10; x < 50; x++) expect(mask.values[10 * 60 + x]).toBe(255);
  expect(mask.values[3 * 60 + 30]).toBe(0);
});

it("fades a soft brush from its core to its edge, and erases what it painted", () => {
  const mask = createMask(41, 41);
  const center = { x: 20.5, y: 20.5, radius: 20 };
  paintSegment(mask, center, center, { hardness: 0.5, isEraser: false });
  const row = [...mask.values.subarray(20 * 41 + 20, 21 * 41)];
  expect(row.slice(0, 10)).toEqual(Array(10).fill(255));
  expect(row.slice(11)).toEqual(row.slice(11).toSorted((a, b) => b - a));
  expect(row.at(-1)).toBeLessThan(30);
  const wide = { ...center, radius: 30 };
  paintSegment(mask, wide, wide, { hardness: 1, isEraser: true });
  expect(describeMask(mask).isEmpty).toBe(true);
});

it("widens a line with the pressure of the pen", () => {
  const mask = createMask(100, 40);
  paintSegment(mask, { x: 10, y: 20, radius: 2 }, { x: 90, y: 20, radius: 12 }, HARD);
  const heightAt = (x: number) =>
    Array.from({ length: 40 }, (_, y) => mask.values[y * 100 + x]!).filter(Boolean).length;
  expect(heightAt(12)).toBeLessThan(heightAt(50));
  expect(heightAt(50)).toBeLessThan(heightAt(88));
});

it("fills the inside of a lasso", () => {
  const mask = createMask(10, 10);
  const points = [
    { x: 2, y: 2 },
    { x: 8, y: 2 },
    { x: 8, y: 6 },
    { x: 2, y: 6 },
  ];
  expect(fillPolygon(mask, points, 255)).toEqual({ x: 2, y: 2, width: 6, height: 4 });
  expect(describeMask(mask)).toMatchObject({ markedPixels: 24, bounds: { x: 2, y: 2, width: 6, height: 4 } });
  expect(fillPolygon(mask, points.slice(0, 2), 255)).toBeUndefined();
});

it("fills a ring up to its edge, and empties it with a second press", () => {
  const mask = createMask(30, 30);
  fillRectangle(mask, { x: 5, y: 5, width: 20, height: 20 }, 255);
  fillRectangle(mask, { x: 8, y: 8, width: 14, height: 14 }, 0);
  expect(floodFill(mask, { x: 15, y: 15 })).toEqual({ x: 8, y: 8, width: 14, height: 14 });
  expect(describeMask(mask).markedPixels).toBe(400);
  expect(floodFill(mask, { x: 15, y: 15 })).toEqual({ x: 5, y: 5, width: 20, height: 20 });
  expect(describeMask(mask).isEmpty).toBe(true);
  expect(floodFill(mask, { x: -1, y: 3 })).toBeUndefined();
});
