import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import "./isolated/allowed-formats.ts";
import {
  createC2paManifestStore,
  jpegWith,
  pngChunk,
  pngWith as putInto,
  webpWith,
} from "../../../test/corpora/image-bytes.ts";
import { noiseImage, validImageCases, validImages } from "../../../test/corpora/valid-images.ts";
import { createDecoderPool } from "./decoder-pool.ts";
import { createImageDecoder } from "./image-decoder.ts";

const decoders = createDecoderPool({ count: 2, megabytes: 1024, seconds: 10 });
const { inspect: inspectImage, normalize: normalizeUpload } = createImageDecoder(decoders);
afterAll(decoders.close);

const pngWith = (...chunks: Buffer[]) => putInto(validImages.png, ...chunks);
const fails = async (bytes: Uint8Array, code: string, decode = true) => {
  await expect(inspectImage(bytes, { decode })).rejects.toMatchObject({ code });
  await expect(normalizeUpload(bytes)).rejects.toMatchObject({ code });
};

describe("metadata of an upload", () => {
  const secret = "the-photographer-was-here";
  const exif = { IFD0: { Copyright: secret, Artist: secret }, IFD3: { GPSLatitude: "51/1 30/1 0/1" } };
  const isFreeOf = (bytes: Uint8Array, ...words: string[]) => {
    for (const word of words) expect(Buffer.from(bytes).includes(word)).toBe(false);
  };

  test.each(["jpeg", "png", "webp"] as const)("is removed from a %s, and the pixels stay identical", async (format) => {
    const bytes = await noiseImage(64, 48)
      .withExif(exif)
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${secret}</x:xmpmeta>`)
      [format]()
      .toBuffer();
    expect(bytes.includes(secret)).toBe(true);
    const clean = await normalizeUpload(bytes);
    isFreeOf(clean.bytes, secret, "Exif", "xmpmeta");
    const { exif: foundExif, xmp } = await sharp(clean.bytes).metadata();
    expect([foundExif, xmp]).toEqual([undefined, undefined]);
    const pixels = (file: Uint8Array) => sharp(file).raw().toBuffer();
    expect((await pixels(clean.bytes)).equals(await pixels(bytes))).toBe(true);
    expect((await normalizeUpload(clean.bytes)).bytes).toBe(clean.bytes);
  });

  test("is removed, whether it is text, a comment or appended after the end", async () => {
    const note = Buffer.from(`note\0${secret}`, "latin1");
    isFreeOf((await normalizeUpload(pngWith(pngChunk("tEXt", note), pngChunk("prVt", note)))).bytes, secret);
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, secret.length + 2]), Buffer.from(secret)]);
    const { jpeg } = validImages;
    isFreeOf((await normalizeUpload(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]))).bytes, secret);
    for (const [, bytes] of validImageCases) {
      const tailed = await normalizeUpload(Buffer.concat([bytes, Buffer.from(`<script>${secret}</script>`)]));
      isFreeOf(tailed.bytes, secret, "script");
    }
  });

  test("that decompresses without end is refused, and a small amount of it is removed", async () => {
    const packed = (size: number) => deflateSync(Buffer.alloc(size));
    const texts = (size: number) => [
      pngChunk("zTXt", Buffer.concat([Buffer.from("note\0\0", "latin1"), packed(size)])),
      pngChunk("iTXt", Buffer.concat([Buffer.from("note\0\u0001\0en\0note\0", "latin1"), packed(size)])),
    ];
    for (const text of texts(50_000_000)) await fails(pngWith(text), "image_undecodable", false);
    await fails(pngWith(...Array.from({ length: 5 }, () => texts(300_000)[0]!)), "image_undecodable", false);
    expect(Buffer.from((await normalizeUpload(pngWith(...texts(1000)))).bytes).equals(validImages.png)).toBe(true);
  });

  test("keeps a colour profile, and removes a broken one", async () => {
    for (const format of ["jpeg", "png", "webp"] as const) {
      const bytes = await noiseImage(64, 48).withIccProfile("p3")[format]().toBuffer();
      const clean = await normalizeUpload(bytes);
      expect((await sharp(clean.bytes).metadata()).icc).toBeDefined();
    }
    const profile = (bytes: Uint8Array) => pngChunk("iCCP", Buffer.concat([Buffer.from("icc\0\0", "latin1"), bytes]));
    for (const broken of [Buffer.from("not packed"), deflateSync(Buffer.alloc(200)), deflateSync(Buffer.alloc(0))]) {
      expect(Buffer.from((await normalizeUpload(pngWith(profile(broken)))).bytes).equals(validImages.png)).toBe(true);
    }
  });
});

describe("a C2PA manifest", () => {
  const store = createC2paManifestStore(300_000);

  test.each([
    ["a JPEG", () => jpegWith(validImages.jpeg, store)],
    ["a PNG", () => pngWith(pngChunk("caBX", store))],
    ["a WebP", () => webpWith(validImages.webp, "C2PA", store)],
  ])("is extracted from %s whole, and the image is stored without it", async (_, make) => {
    const bytes = make();
    const { manifest, bytes: clean } = await normalizeUpload(bytes);
    expect(manifest && Buffer.from(manifest).equals(store)).toBe(true);
    expect(Buffer.from(clean).includes("c2pa")).toBe(false);
    expect((await normalizeUpload(clean)).manifest).toBe(undefined);
    const pixels = (file: Uint8Array) => sharp(file).raw().toBuffer();
    expect((await pixels(clean)).equals(await pixels(bytes))).toBe(true);
  });

  test("is absent if the box is of another kind, too large, or missing", async () => {
    const other = Buffer.from(store);
    other.write("elif", 16, "latin1");
    const foreignManifests = [other, createC2paManifestStore(9_000_000), Buffer.from("short"), Buffer.alloc(0)];
    for (const manifest of foreignManifests) {
      expect((await normalizeUpload(pngWith(pngChunk("caBX", manifest)))).manifest).toBe(undefined);
    }
    for (const manifest of [other, Buffer.from("short"), Buffer.alloc(0)]) {
      expect((await normalizeUpload(jpegWith(validImages.jpeg, manifest))).manifest).toBe(undefined);
    }
    expect((await normalizeUpload(validImages.png)).manifest).toBe(undefined);
  });

  test("is found among boxes of other kinds", async () => {
    const other = Buffer.from(store.subarray(0, 100));
    other.write("elif", 16, "latin1");
    const { manifest } = await normalizeUpload(jpegWith(jpegWith(validImages.jpeg, store, 2), other, 1));
    expect(manifest && Buffer.from(manifest).equals(store)).toBe(true);
  });
});

describe("a rotated upload", () => {
  // Four colours in the corners tell every turn and every mirror image apart.
  const corners = Buffer.alloc(64 * 48 * 3);
  for (let y = 0; y < 48; y++) {
    for (let x = 0; x < 64; x++) corners.set([x < 32 ? 250 : 10, y < 24 ? 250 : 10, 128], (y * 64 + x) * 3);
  }
  const turned = (orientation: number) =>
    sharp(corners, { raw: { width: 64, height: 48, channels: 3 } }).withMetadata({ orientation });
  const encoded = (orientation: number, format: "jpeg" | "png" | "webp") => turned(orientation)[format]().toBuffer();

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is stored upright from orientation %i", async (orientation) => {
    for (const format of ["jpeg", "png", "webp"] as const) {
      const bytes = await encoded(orientation, format);
      expect((await sharp(bytes).metadata()).orientation).toBe(orientation);
      const upright = await normalizeUpload(bytes);
      const expected = await sharp(bytes).autoOrient().raw().toBuffer({ resolveWithObject: true });
      expect([upright.width, upright.height]).toEqual([expected.info.width, expected.info.height]);
      expect(await inspectImage(upright.bytes)).toMatchObject({ width: upright.width, height: upright.height });
      const found = await sharp(upright.bytes).raw().toBuffer();
      const worst = expected.data.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? 999))), 0);
      expect(worst).toBeLessThan(60);
      const { exif, orientation: left } = await sharp(upright.bytes).metadata();
      expect([exif, left]).toEqual([undefined, undefined]);
    }
  });

  test("is refused if pixels are missing", async () => {
    const bytes = await encoded(6, "png");
    const pixels = bytes.indexOf("IDAT") - 4;
    const few = [
      bytes.subarray(0, pixels),
      pngChunk("IDAT", deflateSync(Buffer.alloc(99))),
      pngChunk("IEND", Buffer.alloc(0)),
    ];
    await fails(Buffer.concat(few), "image_undecodable");
  });
});
