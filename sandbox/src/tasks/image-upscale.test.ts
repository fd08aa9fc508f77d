// Larger pictures with the same content.
import sharp from "sharp";
import { expect, test } from "vitest";
import { drawFlat, firstPicture, pixelAt, rawOf, sent } from "../../test/pictures.ts";
import { openRig } from "../../test/rig.ts";

const task = "image.upscale";

test.each([2, 4])("by the factor %i", async (factor) => {
  const rig = await openRig();
  const source = await drawFlat();
  const raw = await firstPicture(rig, { task, images: [sent(source)], options: { factor } });
  expect(raw).toMatchObject({ width: 400 * factor, height: 300 * factor });
  expect(pixelAt(raw, 100 * factor, 150 * factor)).toEqual([0xd0, 0x20, 0x20]);
  const small = await sharp(raw.data, { raw: { width: raw.width, height: raw.height, channels: 3 } })
    .resize(400, 300)
    .raw()
    .toBuffer();
  const before = (await rawOf(source)).data;
  const off = small.reduce((sum, byte, at) => sum + Math.abs(byte - before[at]!), 0) / small.length;
  expect(off).toBeLessThan(2);
});

test("another factor is refused", async () => {
  const rig = await openRig();
  expect((await rig.post({ task, images: [sent(await drawFlat())], options: { factor: 3 } })).status).toBe(422);
});
