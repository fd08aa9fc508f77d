import sharp from "sharp";
import { expect, test } from "vitest";
import {
  CROPS,
  FINGERPRINT_BITS,
  type FingerprintPixels,
  fingerprintsOf,
  hammingDistance,
  MAX_MATCH_DISTANCE,
} from "./fingerprint.ts";

/** A soft field of colours, another one for each seed. */
const draw = (seed: number) => {
  const cells = Buffer.from(Array.from({ length: 12 * 12 * 3 }, (_, at) => (at * at * 37 + seed * at * 91) % 256));
  return sharp(cells, { raw: { width: 12, height: 12, channels: 3 } }).resize(400, 300, { fit: "fill" });
};
const pixelsOf = async (bytes: Uint8Array): Promise<FingerprintPixels> => {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels as FingerprintPixels["channels"] };
};
const distance = async (one: Uint8Array, other: Uint8Array) => {
  const [stored] = fingerprintsOf(await pixelsOf(one));
  const found = fingerprintsOf(await pixelsOf(other), CROPS).map((each) => hammingDistance(each, stored!));
  return Math.min(...found);
};

test("a copy differs in few bits, another image in about half of them", async () => {
  const image = await draw(1).png().toBuffer();
  const area = { left: 10, top: 8, width: 380, height: 285 };
  const copy = await sharp(image).extract(area).resize(200).jpeg({ quality: 60 }).toBuffer();
  expect(await distance(image, image)).toBe(0);
  expect(await distance(image, copy)).toBeLessThanOrEqual(MAX_MATCH_DISTANCE);
  expect(await distance(image, await draw(2).png().toBuffer())).toBeGreaterThan(FINGERPRINT_BITS / 4);
});

test("grey and transparent images have the fingerprint of their brightness", async () => {
  const image = await draw(3).png().toBuffer();
  expect(await distance(image, await sharp(image).greyscale().png().toBuffer())).toBeLessThanOrEqual(
    MAX_MATCH_DISTANCE,
  );
  expect(await distance(image, await sharp(image).ensureAlpha().png().toBuffer())).toBe(0);
});

test("an image of one colour has none", async () => {
  const plain = sharp({ create: { width: 64, height: 64, channels: 3, background: "#468" } });
  expect(fingerprintsOf(await pixelsOf(await plain.png().toBuffer()), CROPS)).toEqual([]);
});
