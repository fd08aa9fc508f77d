// Things go, and their surroundings stay.
import { expect, test } from "vitest";
import {
  changedShare,
  circle,
  decodeRaw,
  drawMask,
  drawShapes,
  drawSvg,
  fetchFirstImage,
  inlineImage,
  isBlackIn,
  isRed,
  pixelAt,
  pixelShare,
  runToSuccess,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.remove";

test("the object that the prompt names is removed, and nothing else changes", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, { task, prompt: "the red circle", images: [inlineImage(source)] });
  expect(pixelShare(raw, isRed)).toBe(0);
  const [red = 0, green = 0, blue = 0] = pixelAt(raw, circle.x, circle.y);
  expect(Math.abs(red - 0xb0) + Math.abs(green - 0xb4) + Math.abs(blue - 0xb8)).toBeLessThan(12);
  const before = await decodeRaw(source);
  const isNear = (x: number, y: number) => Math.hypot(x - circle.x, y - circle.y) < circle.radius + 14;
  expect(changedShare(raw, before, (x, y) => !isNear(x, y))).toBe(0);
});

test("a mask has priority over the prompt", async () => {
  const rig = await startSandboxHarness();
  const source = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#e0e0d0"/><circle cx="200" cy="150" r="60" fill="#d02020"/>`,
  );
  const mask = await drawMask();
  const raw = await fetchFirstImage(rig, {
    task,
    prompt: undefined,
    images: [inlineImage(source)],
    mask: inlineImage(mask),
  });
  expect(pixelShare(raw, isRed)).toBe(0);
  expect(changedShare(raw, await decodeRaw(source), isBlackIn(await decodeRaw(mask)))).toBe(0);
});

test("remove_shadow also removes the shadow", async () => {
  const rig = await startSandboxHarness();
  const image = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#dcdcd4"/><ellipse cx="200" cy="222" rx="75" ry="12" fill="#9a9a94"/><circle cx="200" cy="150" r="65" fill="#d02020"/>`,
  );
  const isDark = ([red = 0]: number[]) => red < 0xc0;
  const fields = { task, prompt: "the red ball", images: [inlineImage(image)] };
  expect(pixelShare(await fetchFirstImage(rig, { ...fields, options: { remove_shadow: true } }), isDark)).toBeLessThan(
    0.001,
  );
  expect(
    pixelShare(await fetchFirstImage(rig, { ...fields, options: { remove_shadow: false } }), isDark),
  ).toBeGreaterThan(0.01);
});

test("if the object is missing, the image is returned unchanged", async () => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const job = await runToSuccess(rig, { task, prompt: "the green triangle", images: [inlineImage(source)] });
  expect(job.data).toEqual({ found: 0 });
  const raw = await fetchFirstImage(rig, { task, prompt: "the green triangle", images: [inlineImage(source)] });
  expect(raw.data.equals((await decodeRaw(source)).data)).toBe(true);
});

test("multiple removes all matches", async () => {
  const rig = await startSandboxHarness();
  const image = await drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#b0b4b8"/><circle cx="90" cy="150" r="40" fill="#d02020"/><circle cx="310" cy="150" r="40" fill="#d02020"/>`,
  );
  const fields = { task, prompt: "red circles", images: [inlineImage(image)] };
  expect(pixelShare(await fetchFirstImage(rig, fields), isRed)).toBeGreaterThan(0.03);
  expect(pixelShare(await fetchFirstImage(rig, { ...fields, options: { multiple: true } }), isRed)).toBe(0);
});

test("a request without prompt and mask is refused", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.post({ task, prompt: undefined, images: [inlineImage(await drawShapes())] })).status).toBe(422);
});
