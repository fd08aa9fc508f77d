// Larger images with the same content.
import sharp from "sharp";
import { expect, test } from "vitest";
import { decodeRaw, drawShapes, fetchFirstImage, inlineImage, pixelAt } from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.upscale";

test.each([2, 4])("by the factor %i", async (factor) => {
  const rig = await startSandboxHarness();
  const source = await drawShapes();
  const raw = await fetchFirstImage(rig, { task, images: [inlineImage(source)], options: { factor } });
  expect(raw).toMatchObject({ width: 400 * factor, height: 300 * factor });
  expect(pixelAt(raw, 100 * factor, 150 * factor)).toEqual([0xd0, 0x20, 0x20]);
  const small = await sharp(raw.data, { raw: { width: raw.width, height: raw.height, channels: 3 } })
    .resize(400, 300)
    .raw()
    .toBuffer();
  const before = (await decodeRaw(source)).data;
  const off = small.reduce((sum, byte, at) => sum + Math.abs(byte - before[at]!), 0) / small.length;
  expect(off).toBeLessThan(2);
});

test("another factor is refused", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.post({ task, images: [inlineImage(await drawShapes())], options: { factor: 3 } })).status).toBe(
    422,
  );
});
