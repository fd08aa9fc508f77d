// Masks cover what the prompt names and nothing else.
import sharp from "sharp";
import { expect, test } from "vitest";
import {
  decodeRaw,
  drawShapes,
  drawSvg,
  fetchBytes,
  fetchFirstImage,
  inCircle,
  inlineImage,
  inSquare,
  pixelAt,
  runToSuccess,
} from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.segment";

test.each([
  ["the red circle on the left", inCircle],
  ["the largest blue shape", inSquare],
  ["the object on the right", inSquare],
  ["the smallest thing", inSquare],
  ["the background", (x: number, y: number) => !inCircle(x, y) && !inSquare(x, y)],
])("%s is covered, and nothing else", async (prompt, isInside) => {
  const rig = await startSandboxHarness();
  const raw = await fetchFirstImage(rig, { task, prompt, images: [inlineImage(await drawShapes())] });
  const hits = { inside: 0, insideFound: 0, outside: 0, outsideFound: 0 };
  for (let y = 0; y < raw.height; y += 1) {
    for (let x = 0; x < raw.width; x += 1) {
      const side = isInside(x, y) ? "inside" : "outside";
      hits[side] += 1;
      if (pixelAt(raw, x, y)[0]! > 127) hits[`${side}Found`] += 1;
    }
  }
  expect(hits.insideFound / hits.inside).toBeGreaterThanOrEqual(0.97);
  expect(hits.outsideFound / hits.outside).toBeLessThanOrEqual(0.03);
});

test("a mask is grey, as large as the image, and has a name, a score and a box", async () => {
  const rig = await startSandboxHarness();
  const job = await runToSuccess(rig, { task, prompt: "the red circle", images: [inlineImage(await drawShapes())] });
  expect(job.data).toEqual({ found: 1 });
  expect(job.outputs).toEqual([
    {
      url: expect.any(String),
      media_type: "image/png",
      width: 400,
      height: 300,
      name: "red circle",
      score: expect.any(Number),
      box: { x: 45, y: 95, width: 110, height: 110 },
    },
  ]);
  const metadata = await sharp(await fetchBytes(job.outputs[0]!.url)).metadata();
  expect(metadata).toMatchObject({ channels: 1, depth: "uchar", width: 400, height: 300 });
});

test("multiple gives every match, the likeliest first", async () => {
  const rig = await startSandboxHarness();
  const images = [inlineImage(await drawShapes())];
  const one = await runToSuccess(rig, { task, prompt: "shape", images });
  const all = await runToSuccess(rig, { task, prompt: "shape", images, options: { multiple: true } });
  expect(one.outputs).toHaveLength(1);
  expect(all.outputs).toHaveLength(2);
  expect(all.outputs[0]!.score).toBeGreaterThanOrEqual(all.outputs[1]!.score!);
  expect(all.data).toEqual({ found: 2 });
});

test("nothing found gives no mask and no failure", async () => {
  const rig = await startSandboxHarness();
  const job = await runToSuccess(rig, {
    task,
    prompt: "the green triangle",
    images: [inlineImage(await drawShapes())],
  });
  expect(job).toMatchObject({ status: "succeeded", outputs: [], data: { found: 0 } });
});

test("the sky ends at the horizon", async () => {
  const rig = await startSandboxHarness();
  const image = await drawSvg(
    300,
    200,
    `<rect width="300" height="200" fill="#8fc0f0"/><rect y="120" width="300" height="80" fill="#3f7a3f"/><rect x="40" y="50" width="90" height="6" fill="#ffffff"/>`,
  );
  const { outputs } = await runToSuccess(rig, { task, prompt: "the sky", images: [inlineImage(image)] });
  expect(outputs[0]!.box).toEqual({ x: 0, y: 0, width: 300, height: 120 });
});

test("a rotated image is segmented upright", async () => {
  const rig = await startSandboxHarness();
  const lying = await sharp(await drawShapes())
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const { outputs } = await runToSuccess(rig, {
    task,
    prompt: "the red circle",
    images: [{ ...inlineImage(lying), media_type: "image/jpeg" }],
  });
  expect(outputs[0]).toMatchObject({ width: 300, height: 400 });
  const raw = await decodeRaw(await fetchBytes(outputs[0]!.url));
  expect(pixelAt(raw, 150, 100)[0]).toBe(255);
});

test("an image and a prompt are required", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.post({ task, prompt: "a circle" })).status).toBe(422);
  expect((await rig.post({ task, prompt: undefined, images: [inlineImage(await drawShapes())] })).status).toBe(422);
  const images = [inlineImage(await drawShapes())];
  expect((await rig.post({ task, prompt: "a circle", images, options: { multiple: "yes" } })).status).toBe(422);
});
