// Edits follow their prompts, and a mask is a promise.
import sharp from "sharp";
import { expect, test } from "vitest";
import {
  changedShare,
  done,
  drawFlat,
  drawMask,
  drawSvg,
  fetched,
  firstPicture,
  inCircle,
  isBlackIn,
  isRed,
  pixelAt,
  rawOf,
  sent,
  shareOf,
} from "../../test/pictures.ts";
import { openRig } from "../../test/rig.ts";

const task = "image.edit";

test.each([
  "make it snow",
  "as a black and white photograph",
  "add a red balloon",
  "turn it purple",
  "with more whimsy",
])("%s visibly changes the picture and keeps its size", async (prompt) => {
  const rig = await openRig();
  const source = await drawFlat();
  const raw = await firstPicture(rig, { task, prompt, images: [sent(source)] });
  expect(raw).toMatchObject({ width: 400, height: 300, channels: 3 });
  expect(changedShare(raw, await rawOf(source))).toBeGreaterThan(0.02);
});

test.each(["make it night", "add a cat", "a forest", "make it red", 'the word "Hello"'])(
  "under the black of a mask not a bit changes: %s",
  async (prompt) => {
    const rig = await openRig();
    const source = await drawFlat();
    const mask = await drawMask();
    const raw = await firstPicture(rig, { task, prompt, images: [sent(source)], mask: sent(mask) });
    expect(changedShare(raw, await rawOf(source), isBlackIn(await rawOf(mask)))).toBe(0);
    expect(changedShare(raw, await rawOf(source))).toBeGreaterThan(0.01);
  },
);

test("to a model that means black by change, white is what stays", async () => {
  const rig = await openRig();
  const [source, mask] = [await drawFlat(), await drawMask()];
  const model = "replay/one+black";
  const raw = await firstPicture(rig, {
    task,
    model,
    prompt: "turn it purple",
    images: [sent(source)],
    mask: sent(mask),
  });
  const negative = await sharp(mask).negate({ alpha: false }).png().toBuffer();
  expect(changedShare(raw, await rawOf(source), isBlackIn(await rawOf(mask)))).toBeGreaterThan(0.5);
  expect(changedShare(raw, await rawOf(source), isBlackIn(await rawOf(negative)))).toBe(0);
});

test("a mask of another size is scaled to the picture", async () => {
  const rig = await openRig();
  const mask = await drawSvg(40, 30, `<rect width="40" height="30"/><rect width="20" height="30" fill="#ffffff"/>`);
  const source = await drawFlat();
  const raw = await firstPicture(rig, { task, prompt: "sepia", images: [sent(source)], mask: sent(mask) });
  expect(changedShare(raw, await rawOf(source), (x) => x > 220)).toBe(0);
  expect(changedShare(raw, await rawOf(source), (x) => x < 180)).toBeGreaterThan(0.3);
});

test("one thing can be given another colour", async () => {
  const rig = await openRig();
  const source = await drawFlat();
  const raw = await firstPicture(rig, { task, prompt: "turn the red circle green", images: [sent(source)] });
  expect(shareOf(raw, isRed)).toBeLessThan(0.002);
  const greenIn = shareOf(raw, ([red = 0, green = 0, blue = 0], x, y) => inCircle(x, y) && green > red && green > blue);
  expect(greenIn).toBeGreaterThan(0.07);
  expect(pixelAt(raw, 20, 20)).toEqual([0xb0, 0xb4, 0xb8]);
});

test("another ratio extends the picture and keeps its pixels where the edit allows", async () => {
  const rig = await openRig();
  const mask = await drawMask();
  const source = await drawFlat();
  const fields = { task, prompt: "add a cat", images: [sent(source)], mask: sent(mask), aspect_ratio: "16:9" };
  const raw = await firstPicture(rig, fields);
  expect(raw).toMatchObject({ width: 533, height: 300 });
  expect(pixelAt(raw, 66 + 100, 150)).toEqual([0xd0, 0x20, 0x20]);
});

test("further pictures are put in", async () => {
  const rig = await openRig();
  const green = await drawSvg(200, 200, `<rect width="200" height="200" fill="#10c020"/>`);
  const raw = await firstPicture(rig, {
    task,
    prompt: "put them together",
    images: [sent(await drawFlat()), sent(green)],
  });
  expect(shareOf(raw, ([red = 0, g = 0, blue = 0]) => g > 150 && red < 60 && blue < 70)).toBeGreaterThan(0.03);
});

test("the same seed gives the same bytes, another seed and another picture of one job do not", async () => {
  const rig = await openRig();
  const fields = { task, prompt: "let it rain", images: [sent(await drawFlat())], count: 2 };
  const bytes = async (seed: number) =>
    Promise.all((await done(rig, { ...fields, seed })).outputs.map(({ url }) => fetched(url)));
  const [first, second] = await bytes(1);
  const [again] = await bytes(1);
  const [other] = await bytes(2);
  expect(again!.equals(first!)).toBe(true);
  expect(second!.equals(first!)).toBe(false);
  expect(other!.equals(first!)).toBe(false);
});
