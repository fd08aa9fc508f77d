// Conversions of results from providers, in real isolated processes.
import sharp, { type Sharp } from "sharp";
import { afterAll, describe, expect, it } from "vitest";
import "./isolated/allowed-formats.ts";
import { noiseImage } from "../../../test/corpora/valid-images.ts";
import { createDecoderPool } from "./decoder-pool.ts";
import { createImageDecoder } from "./image-decoder.ts";

const decoders = createDecoderPool({ count: 1, megabytes: 1024, seconds: 20 });
const { toPng, toFormat, toFoundMask, maskFromTransparency } = createImageDecoder(decoders);
afterAll(decoders.close);

const SIZE = { width: 40, height: 24 };
const pixelsOf = (bytes: Uint8Array) => sharp(bytes).ensureAlpha().raw().toBuffer();

describe("an image as PNG", () => {
  it.each([
    ["jpeg", (image: Sharp) => image.jpeg()],
    ["webp", (image: Sharp) => image.ensureAlpha(0.5).webp({ lossless: true })],
  ])("has the pixels and the alpha of a %s", async (_, encode) => {
    const bytes = await encode(noiseImage(SIZE.width, SIZE.height)).toBuffer();
    const png = await toPng(bytes);
    expect(await sharp(png).metadata()).toMatchObject({ format: "png", ...SIZE });
    expect(await pixelsOf(png)).toEqual(await pixelsOf(bytes));
  });

  it("is unchanged if it is a PNG", async () => {
    const bytes = await noiseImage(SIZE.width, SIZE.height).png().toBuffer();
    expect(await toPng(bytes)).toBe(bytes);
  });

  it("is turned upright if its metadata says that it is rotated", async () => {
    const bytes = await noiseImage(SIZE.width, SIZE.height).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await sharp(await toPng(bytes)).metadata()).toMatchObject({ width: SIZE.height, height: SIZE.width });
  });

  it("is refused if it is a page or cut off", async () => {
    const jpeg = await noiseImage(SIZE.width, SIZE.height).jpeg().toBuffer();
    await expect(toPng(Buffer.from("<!doctype html>"))).rejects.toMatchObject({ code: "unsupported_image_format" });
    await expect(toPng(jpeg.subarray(0, 400))).rejects.toMatchObject({ code: "image_undecodable" });
  });
});

describe("a mask that a provider found", () => {
  const background = (alpha: number, value = 0) =>
    sharp({ create: { ...SIZE, channels: 4, background: { r: value, g: value, b: value, alpha } } });
  const square = { input: { create: { width: 8, height: 8, channels: 4 as const, background: "#ffffff" } } };

  it.each([
    ["black and white", 1],
    ["white on transparent", 0],
  ])("is gray values if it is %s", async (_, alpha) => {
    const bytes = await background(alpha)
      .composite([{ ...square, left: 4, top: 4 }])
      .webp({ lossless: true })
      .toBuffer();
    const mask = await toFoundMask(bytes);
    expect(mask.isEmpty).toBe(false);
    expect(await sharp(mask.bytes).metadata()).toMatchObject({ format: "png", channels: 1, ...SIZE });
    const grey = await sharp(mask.bytes).toColourspace("b-w").raw().toBuffer();
    const at = (x: number, y: number) => grey[y * SIZE.width + x];
    expect([at(0, 0), at(5, 5), at(11, 11), at(12, 12)]).toEqual([0, 255, 255, 0]);
  });

  it.each([
    ["black", 1, 0],
    ["transparent", 0, 0],
    ["transparent and white below", 0, 255],
    ["black with noise of a lossy format", 1, 6],
  ])("is empty if it is %s", async (_, alpha, value) => {
    expect((await toFoundMask(await background(alpha, value).png().toBuffer())).isEmpty).toBe(true);
  });
});

describe("an image in another format", () => {
  it.each(["jpeg", "webp", "png"] as const)("can be %s", async (format) => {
    const bytes = await noiseImage(SIZE.width, SIZE.height).png().toBuffer();
    const converted = await toFormat(bytes, `image/${format}`);
    expect(await sharp(converted).metadata()).toMatchObject({ format, ...SIZE });
    expect(converted === bytes).toBe(format === "png");
  });

  it("is white in a JPEG where it was transparent", async () => {
    const clear = { create: { ...SIZE, channels: 4 as const, background: { r: 0, g: 0, b: 0, alpha: 0 } } };
    const jpeg = await toFormat(await sharp(clear).png().toBuffer(), "image/jpeg");
    expect([...(await sharp(jpeg).raw().toBuffer())].every((value) => value === 255)).toBe(true);
  });
});

describe("a mask by transparency", () => {
  it("marks the transparent pixels, upright", async () => {
    const hole = await sharp({ create: { width: 10, height: 24, channels: 4, background: "#ffffff" } })
      .ensureAlpha(1)
      .extend({ left: 30, background: { r: 255, g: 255, b: 255, alpha: 0 } })
      .png()
      .toBuffer();
    const { data } = await sharp((await maskFromTransparency(hole))!)
      .toColourspace("b-w")
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([...data.subarray(0, 40)]).toEqual([...Array(30).fill(255), ...Array(10).fill(0)]);
  });

  it("does not exist for an image without transparency", async () => {
    expect(await maskFromTransparency(await noiseImage(SIZE.width, SIZE.height).png().toBuffer())).toBeUndefined();
  });
});
