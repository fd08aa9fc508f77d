import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import "./isolated/allowed-formats.ts";
import { buildPng, pngChunk, pngWith as putInto } from "../../../test/corpora/image-bytes.ts";
import { noiseImage, validImageCases, validImages } from "../../../test/corpora/valid-images.ts";
import { createDecoderPool } from "./decoder-pool.ts";
import { createImageDecoder } from "./image-decoder.ts";

const decoders = createDecoderPool({ count: 2, megabytes: 1024, seconds: 10 });
const { inspect: inspectImage, normalize: normalizeUpload } = createImageDecoder(decoders);
afterAll(decoders.close);

const pngWith = (...chunks: Buffer[]) => putInto(validImages.png, ...chunks);
const pngOfSize = (width: number, height: number) => buildPng({ width, height }, deflateSync(Buffer.alloc(100)));
const fails = async (bytes: Uint8Array, code: string, decode = true) => {
  await expect(inspectImage(bytes, { decode })).rejects.toMatchObject({ code });
  await expect(normalizeUpload(bytes)).rejects.toMatchObject({ code });
};

describe("a valid image", () => {
  test.each(validImageCases)("%s is detected by its content, with its size", async (kind, bytes) => {
    const format = (await sharp(bytes).metadata()).format;
    const expected = { media_type: `image/${format}`, width: 64, height: 48 };
    expect(await inspectImage(bytes)).toEqual(expected);
    expect(await inspectImage(bytes, { decode: false })).toEqual(expected);
    expect(kind).toBeTruthy();
  });

  test.each(validImageCases.filter(([kind]) => kind !== "deep" && kind !== "cmyk"))(
    "%s without metadata is kept byte for byte",
    async (_, bytes) => {
      expect((await normalizeUpload(bytes)).bytes).toBe(bytes);
    },
  );

  test.each([
    [16, 16],
    [16_384, 16],
    [16, 16_384],
  ])("can have %i x %i pixels", async (width, height) => {
    expect(await inspectImage(await noiseImage(width, height).png().toBuffer())).toMatchObject({ width, height });
  });
});

describe("415 unsupported_image_format", () => {
  const text = (content: string) => Buffer.from(content);
  test.each([
    ["gif", noiseImage(20, 20).gif().toBuffer()],
    ["tiff", noiseImage(20, 20).tiff().toBuffer()],
    ["avif", noiseImage(20, 20).avif({ effort: 0 }).toBuffer()],
    ["svg", text(`<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><script>1</script></svg>`)],
    ["svg with a PNG word", text(`<?xml version="1.0"?><!-- PNG --><svg width="99" height="99"/>`)],
    ["html", text("<!doctype html><script>alert(1)</script>")],
    ["pdf", text("%PDF-1.7 and so on and so on")],
    ["zip", text("PK\x03\x04 and so on and so on")],
    ["a few words", text("words")],
    ["zeros", Buffer.alloc(1_000)],
  ])("%s", async (_, bytes) => fails(await bytes, "unsupported_image_format"));

  test("other formats are also disabled in the decoder itself", async () => {
    const gif = await noiseImage(20, 20).gif().toBuffer();
    await expect(sharp(gif).metadata()).rejects.toThrow();
    await expect(sharp(Buffer.from("<svg width='99' height='99'/>")).metadata()).rejects.toThrow();
  });
});

describe("422 image_undecodable", () => {
  test.each([0, 1, 2, 11])("%i bytes", (size) => fails(validImages.png.subarray(0, size), "image_undecodable"));

  test.each(validImageCases)("%s cut at any tenth", async (_, bytes) => {
    for (let tenth = 1; tenth < 10; tenth++) {
      await fails(
        bytes.subarray(0, Math.max(12, Math.floor((bytes.byteLength * tenth) / 10))),
        "image_undecodable",
        false,
      );
    }
    await fails(bytes.subarray(0, -3), "image_undecodable");
  });

  test("a PNG with one wrong bit in its pixels", () => {
    const bytes = Buffer.from(validImages.png);
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
    return fails(bytes, "image_undecodable", false);
  });

  test("a PNG with fewer pixels than its header declares", () => fails(pngOfSize(500, 500), "image_undecodable"));

  test("a colour profile that decompresses without end", () => {
    const bomb = Buffer.concat([Buffer.from("icc\0\0", "latin1"), deflateSync(Buffer.alloc(50_000_000))]);
    return fails(pngWith(pngChunk("iCCP", bomb)), "image_undecodable", false);
  });

  test("damage to any byte causes at most a fault", async () => {
    for (const [, bytes] of validImageCases) {
      for (let round = 0; round < 30; round++) {
        const changed = Buffer.from(bytes);
        for (const step of [37, 101, 211]) changed[(round * step) % Math.min(bytes.byteLength, 400)] = round * 8;
        const outcome = await normalizeUpload(changed).catch((thrown) => thrown);
        if (outcome instanceof Error)
          expect(outcome).toHaveProperty("code", expect.stringMatching(/^(image_|unsupported_image)/));
      }
    }
  });
});

describe("422 image_too_many_pixels and image_too_small", () => {
  test.each([
    [30_000, 30_000],
    [65_535, 65_535],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [16_385, 16],
    [16, 16_385],
    [7_072, 7_072],
  ])("%i x %i is refused by its header alone", async (width, height) => {
    const before = performance.now();
    await fails(pngOfSize(width, height), "image_too_many_pixels");
    expect(performance.now() - before).toBeLessThan(200);
  });

  test("a JPEG that declares 65,500 x 65,500 is refused", () => {
    const bytes = Buffer.from(validImages.jpeg);
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
    bytes.writeUInt16BE(65_500, frame + 5);
    bytes.writeUInt16BE(65_500, frame + 7);
    return fails(bytes, "image_too_many_pixels");
  });

  test.each([
    [15, 400],
    [400, 15],
    [1, 1],
  ])("%i x %i is too small", async (width, height) =>
    fails(await noiseImage(width, height).webp().toBuffer(), "image_too_small"),
  );
});

describe("422 image_animated_not_supported", () => {
  const frames = (count: number) => {
    const data = Buffer.alloc(8);
    data.writeUInt32BE(count, 0);
    return pngChunk("acTL", data);
  };

  test("an animated PNG is refused, one with a single frame is not", async () => {
    await fails(pngWith(frames(2)), "image_animated_not_supported");
    const { bytes } = await normalizeUpload(pngWith(frames(1)));
    expect(Buffer.from(bytes).equals(validImages.png)).toBe(true);
  });

  test("an animated WebP is refused", async () => {
    const raw = { width: 32, height: 96, channels: 3 as const, pageHeight: 32 };
    const strip = await noiseImage(32, 96).raw().toBuffer();
    await fails(
      await sharp(strip, { raw })
        .webp({ loop: 0, delay: [9, 9, 9] })
        .toBuffer(),
      "image_animated_not_supported",
    );
  });
});
