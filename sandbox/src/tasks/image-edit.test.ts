// Edits follow their prompts, and respect masks.
import sharp from "sharp";
import { expect, test } from "vitest";
import {
  changedShare,
  decodeRaw,
  drawMask,
  drawShapes,
  drawSvg,
  fetchBytes,
  fetchFirstImage,
  inCircle,
  inlineImage,
  isBlackIn,
  isRed,
  pixelAt,
  pixelShare,
  runToSuccess,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.edit";

test.each([
  "make it snow",
  "as a black and white photograph",
  "add a red balloon",
  "turn it purple",
  "with more whimsy",
])("%s visibly changes the image and keeps its size", async (prompt) => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, { task, prompt, images: [inlineImage(source)] });
  expect(raw).toMatchObject({ width: 400, height: 300, channels: 3 });
  expect(changedShare(raw, await decodeRaw(source))).toBeGreaterThan(0.02);
});

test.each(["make it night", "add a cat", "a forest", "make it red", 'the word "Hello"'])(
  "under the black of a mask not a bit changes: %s",
  async (prompt) => {
    const rig = await startSandboxHarness();
    const source = await drawShapes();
    const mask = await drawMask();
    const raw = await fetchFirstImage(rig, { task, prompt, images: [inlineImage(source)], mask: inlineImage(mask) });
    expect(changedShare(raw, await decodeRaw(source), isBlackIn(await decodeRaw(mask)))).toBe(0);
    expect(changedShare(raw, await decodeRaw(source))).toBeGreaterThan(0.01);
  },
);

test("for a model with the black convention, white stays", async () => {
  const rig = await startSandboxHarness();
  const [source, mask] = [await drawShapes(), await drawMask()];
  const model = "replay/one+black";
  const raw = await fetchFirstImage(rig, {
    task,
    model,
    prompt: "turn it purple",
    images: [inlineImage(source)],
    mask: inlineImage(mask),
  });
  const negative = await sharp(mask).negate({ alpha: false }).png().toBuffer();
  expect(changedShare(raw, await decodeRaw(source), isBlackIn(await decodeRaw(mask)))).toBeGreaterThan(0.5);
  expect(changedShare(raw, await decodeRaw(source), isBlackIn(await decodeRaw(negative)))).toBe(0);
});

test("a mask of another size is scaled to the image", async () => {
  const rig = await startSandboxHarness();
  const mask = await drawSvg(40, 30, `<rect width="40" height="30"/><rect width="20" height="30" fill="#ffffff"/>`);
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, {
    task,
    prompt: "sepia",
    images: [inlineImage(source)],
    mask: inlineImage(mask),
  });
  expect(changedShare(raw, await decodeRaw(source), (x) => x > 220)).toBe(0);
  expect(changedShare(raw, await decodeRaw(source), (x) => x < 180)).toBeGreaterThan(0.3);
});

test("one thing can be given another colour", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, { task, prompt: "turn the red circle green", images: [inlineImage(source)] });
  expect(pixelShare(raw, isRed)).toBeLessThan(0.002);
  const greenIn = pixelShare(
    raw,
    ([red = 0, green = 0, blue = 0], x, y) => inCircle(x, y) && green > red && green > blue,
  );
  expect(greenIn).toBeGreaterThan(0.07);
  // Below the stamp.
  expect(pixelAt(raw, 20, 60)).toEqual([0xb0, 0xb4, 0xb8]);
});

test("another ratio extends the image and keeps its pixels where the edit allows", async () => {
  const rig = await startSandboxHarness();
  const mask = await drawMask();
  const source = await drawShapes();
  const fields = {
    task,
    prompt: "add a cat",
    images: [inlineImage(source)],
    mask: inlineImage(mask),
    aspect_ratio: "16:9",
  };
  const raw = await fetchFirstImage(rig, fields);
  expect(raw).toMatchObject({ width: 533, height: 300 });
  expect(pixelAt(raw, 66 + 100, 150)).toEqual([0xd0, 0x20, 0x20]);
});

test("further images are put in", async () => {
  const rig = await startSandboxHarness();
  const green = await drawSvg(200, 200, `<rect width="200" height="200" fill="#10c020"/>`);
  const raw = await fetchFirstImage(rig, {
    task,
    prompt: "put them together",
    images: [inlineImage(await drawShapes()), inlineImage(green)],
  });
  expect(pixelShare(raw, ([red = 0, g = 0, blue = 0]) => g > 150 && red < 60 && blue < 70)).toBeGreaterThan(0.03);
});

test("the same seed gives the same bytes, another seed and another image of one job do not", async () => {
  const rig = await startSandboxHarness();
  const fields = { task, prompt: "let it rain", images: [inlineImage(await drawShapes())], count: 2 };
  const bytes = async (seed: number) =>
    Promise.all((await runToSuccess(rig, { ...fields, seed })).outputs.map(({ url }) => fetchBytes(url)));
  const [first, second] = await bytes(1);
  const [again] = await bytes(1);
  const [other] = await bytes(2);
  expect(again!.equals(first!)).toBe(true);
  expect(second!.equals(first!)).toBe(false);
  expect(other!.equals(first!)).toBe(false);
});
