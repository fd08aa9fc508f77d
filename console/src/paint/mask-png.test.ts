import sharp from "sharp";
import { expect, it } from "vitest";
import { encodeMaskPng } from "./mask-png.ts";

it("writes a grey PNG that decodes to the same values", async () => {
  const mask = { width: 37, height: 21, values: Uint8Array.from({ length: 37 * 21 }, (_, pixel) => (pixel * 7) % 256) };
  const file = Buffer.from(await (await encodeMaskPng(mask)).arrayBuffer());
  expect(await sharp(file).metadata()).toMatchObject({ format: "png", width: 37, height: 21, channels: 1 });
  const values = await sharp(file).toColourspace("b-w").raw().toBuffer();
  expect(values.equals(Buffer.from(mask.values))).toBe(true);
});
