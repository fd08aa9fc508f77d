// Things go, and their surroundings stay.
import { expect, test } from "vitest";
import {
  changedShare,
  circle,
  done,
  drawFlat,
  drawMask,
  drawSvg,
  firstPicture,
  isBlackIn,
  isRed,
  pixelAt,
  rawOf,
  sent,
  shareOf,
} from "../../test/pictures.ts";
import { openRig } from "../../test/rig.ts";

const task = "image.remove";

test("the thing that the prompt names is gone, and nothing else has changed", async () => {
  const rig = await openRig();
  const source = await drawFlat();
  const raw = await firstPicture(rig, { task, prompt: "the red circle", images: [sent(source)] });
  expect(shareOf(raw, isRed)).toBe(0);
  const [red = 0, green = 0, blue = 0] = pixelAt(raw, circle.x, circle.y);
  expect(Math.abs(red - 0xb0) + Math.abs(green - 0xb4) + Math.abs(blue - 0xb8)).toBeLessThan(12);
  const before = await rawOf(source);
  const isNear = (x: number, y: number) => Math.hypot(x - circle.x, y - circle.y) < circle.radius + 14;
  expect(changedShare(raw, before, (x, y) => !isNear(x, y))).toBe(0);
});

test("a mask goes before the prompt", async () => {
  const rig = await openRig();
  const source = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#e0e0d0"/><circle cx="200" cy="150" r="60" fill="#d02020"/>`,
  );
  const mask = await drawMask();
  const raw = await firstPicture(rig, { task, prompt: undefined, images: [sent(source)], mask: sent(mask) });
  expect(shareOf(raw, isRed)).toBe(0);
  expect(changedShare(raw, await rawOf(source), isBlackIn(await rawOf(mask)))).toBe(0);
});

test("remove_shadow takes the shadow along", async () => {
  const rig = await openRig();
  const image = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#dcdcd4"/><ellipse cx="200" cy="222" rx="75" ry="12" fill="#9a9a94"/><circle cx="200" cy="150" r="65" fill="#d02020"/>`,
  );
  const isDark = ([red = 0]: number[]) => red < 0xc0;
  const fields = { task, prompt: "the red ball", images: [sent(image)] };
  expect(shareOf(await firstPicture(rig, { ...fields, options: { remove_shadow: true } }), isDark)).toBeLessThan(0.001);
  expect(shareOf(await firstPicture(rig, { ...fields, options: { remove_shadow: false } }), isDark)).toBeGreaterThan(
    0.01,
  );
});

test("what is not there cannot be removed: the picture comes back as it was", async () => {
  const rig = await openRig();
  const source = await drawFlat();
  const job = await done(rig, { task, prompt: "the green triangle", images: [sent(source)] });
  expect(job.data).toEqual({ found: 0 });
  const raw = await firstPicture(rig, { task, prompt: "the green triangle", images: [sent(source)] });
  expect(raw.data.equals((await rawOf(source)).data)).toBe(true);
});

test("multiple removes all matches", async () => {
  const rig = await openRig();
  const image = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#b0b4b8"/><circle cx="90" cy="150" r="40" fill="#d02020"/><circle cx="310" cy="150" r="40" fill="#d02020"/>`,
  );
  const fields = { task, prompt: "red circles", images: [sent(image)] };
  expect(shareOf(await firstPicture(rig, fields), isRed)).toBeGreaterThan(0.03);
  expect(shareOf(await firstPicture(rig, { ...fields, options: { multiple: true } }), isRed)).toBe(0);
});

test("neither prompt nor mask is refused", async () => {
  const rig = await openRig();
  expect((await rig.post({ task, prompt: undefined, images: [sent(await drawFlat())] })).status).toBe(422);
});
