import sharp from "sharp";
import { expect, it } from "vitest";
import { alphaMask, invertMask } from "./perform-pixel-task.ts";

/** From black to white, a pixel each. */
const greys = (values: number[]) =>
  sharp(Buffer.from(values), { raw: { width: values.length, height: 1, channels: 1 } })
    .toColourspace("b-w")
    .png()
    .toBuffer();

it("a mask can be inverted", async () => {
  const turned = await sharp(await invertMask(await greys([0, 100, 255])))
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([...turned.data].filter((_, index) => index % turned.info.channels === 0)).toEqual([255, 155, 0]);
});

it("a mask becomes fully transparent where something changes, and opaque elsewhere", async () => {
  const mask = await alphaMask(await greys([0, 100, 200, 255]), { width: 4, height: 1 });
  const { data, info } = await sharp(mask).raw().toBuffer({ resolveWithObject: true });
  expect(info.channels).toBe(4);
  expect([...data].filter((_, index) => index % 4 === 3)).toEqual([255, 255, 0, 0]);
});

it("a mask is scaled to the image, with hard edges", async () => {
  const mask = await alphaMask(await greys([0, 255]), { width: 6, height: 2 });
  const { data } = await sharp(mask).raw().toBuffer({ resolveWithObject: true });
  expect([...data].filter((_, index) => index % 4 === 3)).toEqual([255, 255, 255, 0, 0, 0, 255, 255, 255, 0, 0, 0]);
});
