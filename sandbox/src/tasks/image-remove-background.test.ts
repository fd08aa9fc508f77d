// The background becomes transparent, and the things before it stay whole.
import { expect, test } from "vitest";
import {
  drawShapes,
  drawSvg,
  fetchFirstImage,
  inCircle,
  inlineImage,
  inSquare,
  pixelAt,
  pixelShare,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.remove-background";

test("objects stay opaque, the rest is transparent, and the edge is clean", async () => {
  const rig = await startSandboxHarness();
  const raw = await fetchFirstImage(rig, { task, images: [inlineImage(await drawShapes())] });
  expect(raw).toMatchObject({ width: 400, height: 300, channels: 4 });
  const wrong = pixelShare(raw, ([, , , alpha = 0], x, y) =>
    inCircle(x, y) || inSquare(x, y) ? alpha < 128 : alpha > 127,
  );
  expect(wrong).toBeLessThan(0.004);
  expect(pixelAt(raw, 100, 150)).toEqual([0xd0, 0x20, 0x20, 255]);
  expect(pixelAt(raw, 5, 5)[3]).toBe(0);
});

test("a gradient is one background", async () => {
  const rig = await startSandboxHarness();
  const image = await drawSvg(
    400,
    300,
    `<defs><linearGradient id="g" x2="0" y2="1"><stop offset="0" stop-color="#3060c0"/><stop offset="1" stop-color="#f0e0c0"/></linearGradient></defs><rect width="400" height="300" fill="url(#g)"/><rect x="150" y="100" width="100" height="120" fill="#207030"/>`,
  );
  const raw = await fetchFirstImage(rig, { task, images: [inlineImage(image)] });
  const opaque = pixelShare(raw, ([, , , alpha = 0]) => alpha > 127);
  expect(opaque).toBeCloseTo((100 * 120) / (400 * 300), 2);
});

test("an image of only background is returned whole", async () => {
  const rig = await startSandboxHarness();
  const raw = await fetchFirstImage(rig, {
    task,
    images: [inlineImage(await drawSvg(64, 64, `<rect width="64" height="64" fill="#4477aa"/>`))],
  });
  expect(pixelShare(raw, ([, , , alpha = 0]) => alpha === 255)).toBe(1);
});
