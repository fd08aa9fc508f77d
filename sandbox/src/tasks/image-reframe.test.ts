// The source keeps its pixels, and the frame has the shape that was asked for.
import { expect, test } from "vitest";
import {
  decodeRaw,
  drawShapes,
  drawSvg,
  fetchFirstImage,
  inlineImage,
  pixelAt,
  type RawImage,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.reframe";

const expectAt = (frame: RawImage, source: RawImage, left: number, top: number): void => {
  for (let y = 0; y < source.height; y += 1) {
    const from = ((y + top) * frame.width + left) * 3;
    const row = frame.data.subarray(from, from + source.width * 3);
    expect(row.equals(source.data.subarray(y * source.width * 3, (y + 1) * source.width * 3))).toBe(true);
  }
};

test.each([
  ["16:9", 533, 300, 66, 0],
  ["1:1", 400, 400, 0, 50],
  ["9:16", 400, 711, 0, 205],
])(
  "%s is the smallest frame that holds the source, with the source in the middle",
  async (aspect_ratio, width, height, left, top) => {
    const rig = await startSandboxHarness();
    const source = await drawShapes();
    const raw = await fetchFirstImage(rig, { task, aspect_ratio, images: [inlineImage(source)] });
    expect(raw).toMatchObject({ width, height, channels: 3 });
    expectAt(raw, await decodeRaw(source), left, top);
  },
);

test("a position in the frame can be given", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const options = { grid_position_x: 0, grid_position_y: 30 };
  const raw = await fetchFirstImage(rig, { task, aspect_ratio: "1:1", images: [inlineImage(source)], options });
  expectAt(raw, await decodeRaw(source), 0, 30);
});

test("the edges of the frame can be given, in pixels of the source", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const options = { x_start: -50, x_end: 450, y_start: -20, y_end: 300 };
  const raw = await fetchFirstImage(rig, { task, aspect_ratio: "1:1", images: [inlineImage(source)], options });
  expect(raw).toMatchObject({ width: 500, height: 320 });
  expectAt(raw, await decodeRaw(source), 50, 20);
  const cut = await fetchFirstImage(rig, {
    task,
    images: [inlineImage(source)],
    options: { x_start: 60, x_end: 260, y_start: 50, y_end: 250 },
  });
  expect(pixelAt(cut, 0, 0)).toEqual(pixelAt(await decodeRaw(source), 60, 50));
});

test("a width and a height are the size of the frame", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, { task, width: 600, height: 500, images: [inlineImage(source)] });
  expect(raw).toMatchObject({ width: 600, height: 500 });
  expectAt(raw, await decodeRaw(source), 100, 100);
  expect(await fetchFirstImage(rig, { task, width: 200, height: 200, images: [inlineImage(source)] })).toMatchObject({
    width: 200,
    height: 200,
  });
});

test("no frame is longer than 2048", async () => {
  const rig = await startSandboxHarness();
  const wide = await drawSvg(1800, 300, `<rect width="1800" height="300" fill="#c04040"/>`);
  const raw = await fetchFirstImage(rig, { task, aspect_ratio: "21:9", images: [inlineImage(wide)] });
  expect(raw.width).toBe(1800);
  const tall = await fetchFirstImage(rig, { task, aspect_ratio: "1:2", images: [inlineImage(wide)] });
  expect(tall).toMatchObject({ width: 1024, height: 2048 });
});

test("an aspect ratio is required, and a frame that misses the image fails", async () => {
  const rig = await startSandboxHarness();
  const images = [inlineImage(await drawShapes())];
  expect((await rig.post({ task, images })).status).toBe(422);
  expect((await rig.post({ task, images, options: { x_start: 9, x_end: 9, y_start: 0, y_end: 50 } })).status).toBe(422);
  const { body } = await rig.post({ task, images, options: { x_start: 900, x_end: 999, y_start: 0, y_end: 50 } });
  expect(await rig.waitUntilEnded(body.id)).toMatchObject({ status: "failed", error: { code: "invalid_input" } });
});
