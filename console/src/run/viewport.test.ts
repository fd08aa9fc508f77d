import { expect, it } from "vitest";
import { overlaps, visibleArea } from "./viewport.ts";

const SIZE = { width: 960, height: 640 };

it("the visible area has a step of margin on each side", () => {
  expect(visibleArea({ x: 0, y: 0, scale: 1 }, SIZE)).toEqual({ x: -320, y: -320, width: 1600, height: 1280 });
});

it("the visible area stays the same until the view moves by a step", () => {
  const near = visibleArea({ x: -10, y: -10, scale: 1 }, SIZE);
  expect(visibleArea({ x: -300, y: -300, scale: 1 }, SIZE)).toEqual(near);
  expect(visibleArea({ x: -330, y: -10, scale: 1 }, SIZE)).not.toEqual(near);
});

it("the visible area of a smaller scale shows more of the graph", () => {
  const { width, height } = visibleArea({ x: 0, y: 0, scale: 0.5 }, SIZE);
  expect([width, height]).toEqual([2560, 1920]);
});

it("boxes that only touch do not overlap", () => {
  const box = { x: 0, y: 0, width: 10, height: 10 };
  expect(overlaps(box, { ...box, x: 9, y: 9 })).toBe(true);
  expect(overlaps(box, { ...box, x: 10 })).toBe(false);
});
