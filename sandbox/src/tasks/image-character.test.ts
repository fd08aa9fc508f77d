// The same reference gives the same person in every scene.
import { expect, test } from "vitest";
import {
  changedShare,
  decodeRaw,
  drawMask,
  drawShapes,
  drawSvg,
  fetchBytes,
  fetchFirstImage,
  inlineImage,
  isBlackIn,
  pixelShare,
  runToSuccess,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.character";

const reference = () =>
  drawSvg(200, 200, `<rect width="200" height="200" fill="#f0f0ee"/><circle cx="100" cy="100" r="70" fill="#e01890"/>`);

/** The colour of the reference, which no palette of a scene has. */
const isWorn = ([red = 0, green = 0, blue = 0]: number[]) =>
  Math.abs(red - 0xe0) < 14 && Math.abs(green - 0x18) < 14 && Math.abs(blue - 0x90) < 14;

test.each([
  ["a walk in the mountains", 1],
  ["in the forest at night", 2],
])("the person in %s wears the colour of the reference", async (prompt, seed) => {
  const rig = await startSandboxHarness();
  const raw = await fetchFirstImage(rig, {
    task,
    prompt,
    seed,
    width: 256,
    height: 256,
    images: [inlineImage(await reference())],
  });
  expect(pixelShare(raw, isWorn)).toBeGreaterThan(0.008);
});

test("resolution, ratio and speed are honoured, as numbers or as text", async () => {
  const rig = await startSandboxHarness();
  const options = { resolution: 720, rendering_speed: "Turbo", style_type: "Fiction", magic_prompt_option: "On" };
  const job = await runToSuccess(rig, { task, prompt: "at sea", aspect_ratio: "3:2", options });
  expect(job.outputs).toMatchObject([{ width: 720, height: 480 }]);
  expect(job.data!.prompt).toMatch(/^at sea, /);
  const plain = await runToSuccess(rig, { task, prompt: "at sea", options: { magic_prompt_option: "Off" } });
  expect(plain.data).toEqual({ prompt: "at sea" });
  expect((await rig.post({ task, options: { style_type: "Cubist" } })).status).toBe(422);
});

test("in an image of the request only the masked area changes", async () => {
  const rig = await startSandboxHarness();
  const [context, mask] = [await drawShapes(), await drawMask()];
  const fields = {
    task,
    prompt: "somebody",
    images: [inlineImage(await reference()), inlineImage(context)],
    mask: inlineImage(mask),
  };
  const raw = await fetchFirstImage(rig, fields);
  expect(raw).toMatchObject({ width: 400, height: 300 });
  expect(changedShare(raw, await decodeRaw(context), isBlackIn(await decodeRaw(mask)))).toBe(0);
  expect(pixelShare(raw, isWorn)).toBeGreaterThan(0.005);
});

test("the same seed gives the same bytes", async () => {
  const rig = await startSandboxHarness();
  const fields = { task, prompt: "by the lake", width: 128, height: 128, count: 2, seed: 3 };
  const bytes = async () => Promise.all((await runToSuccess(rig, fields)).outputs.map(({ url }) => fetchBytes(url)));
  const [first, second] = await bytes();
  expect((await bytes())[0]!.equals(first!)).toBe(true);
  expect(second!.equals(first!)).toBe(false);
});
