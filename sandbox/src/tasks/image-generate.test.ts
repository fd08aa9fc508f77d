// Images from words: `upscale_factor` enlarges the image that the same request gives without it.
import sharp from "sharp";
import { expect, test } from "vitest";
import { fetchFirstImage } from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const request = { task: "image.generate", prompt: "a red boat", width: 96, height: 64, seed: 5 };

test("upscale_factor enlarges the image and keeps its content", async () => {
  const rig = await startSandboxHarness();
  const plain = await fetchFirstImage(rig, request);
  expect(plain).toMatchObject({ width: 96, height: 64 });
  const large = await fetchFirstImage(rig, { ...request, options: { upscale_factor: 2.5 } });
  expect(large).toMatchObject({ width: 240, height: 160 });
  const { width, height } = large;
  const small = await sharp(large.data, { raw: { width, height, channels: 3 } })
    .resize(96, 64)
    .raw()
    .toBuffer();
  const off = small.reduce((sum, byte, at) => sum + Math.abs(byte - plain.data[at]!), 0) / small.length;
  expect(off).toBeLessThan(4);
});
