import { expect, it } from "vitest";
import { fitView, keepInSight, nextZoom, pinchView, toImagePoint, zoomAt } from "./view.ts";

const STAGE = { width: 1000, height: 800 };

it("fits a large image and keeps the size of a small one", () => {
  expect(fitView(STAGE, { width: 2000, height: 1000 })).toEqual({ zoom: 0.472, x: 28, y: 164 });
  expect(fitView(STAGE, { width: 100, height: 50 })).toEqual({ zoom: 1, x: 450, y: 375 });
});

it("keeps the pixel below the pointer while it zooms, up to 800 %", () => {
  const view = { zoom: 1, x: 40, y: 20 };
  const anchor = { x: 140, y: 70 };
  const near = zoomAt(view, 4, anchor);
  expect(toImagePoint(near, anchor)).toEqual(toImagePoint(view, anchor));
  expect(zoomAt(near, 100, anchor).zoom).toBe(8);
});

it("moves and zooms with two fingers", () => {
  const view = { zoom: 1, x: 0, y: 0 };
  const next = pinchView(
    view,
    [
      { x: 100, y: 100 },
      { x: 200, y: 100 },
    ],
    [
      { x: 100, y: 150 },
      { x: 300, y: 150 },
    ],
  );
  expect(next.zoom).toBe(2);
  expect(toImagePoint(next, { x: 200, y: 150 })).toEqual({ x: 150, y: 100 });
});

it("never loses the image", () => {
  const image = { width: 500, height: 400 };
  expect(keepInSight({ zoom: 1, x: 5000, y: -5000 }, STAGE, image)).toEqual({ zoom: 1, x: 952, y: -352 });
});

it("steps through fixed zooms", () => {
  expect(nextZoom(0.472, true)).toBe(0.5);
  expect(nextZoom(1, false)).toBe(0.5);
  expect(nextZoom(8, true)).toBe(8);
});
