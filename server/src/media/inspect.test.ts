import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import "./readers.ts";
import { chunk, jpegWith, manifestStore, webpWith } from "../../test/corpora/bytes.ts";
import { createDecoders } from "./decoders.ts";
import { imageGate } from "./inspect.ts";

const decoders = createDecoders({ count: 2, megabytes: 1024, seconds: 10 });
const { inspect: inspectImage, normalize: normalizeUpload } = imageGate(decoders);
afterAll(decoders.close);

const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 30 } },
  });
const picture = {
  jpeg: await noise(64, 48).jpeg().toBuffer(),
  progressive: await noise(64, 48).jpeg({ progressive: true }).toBuffer(),
  cmyk: await noise(64, 48).toColourspace("cmyk").jpeg().toBuffer(),
  png: await noise(64, 48).png().toBuffer(),
  palette: await noise(64, 48).png({ palette: true }).toBuffer(),
  deep: await noise(64, 48).toColourspace("rgb16").png().toBuffer(),
  interlaced: await noise(64, 48).png({ progressive: true }).toBuffer(),
  webp: await noise(64, 48).webp().toBuffer(),
  lossless: await noise(64, 48).webp({ lossless: true }).toBuffer(),
  transparent: await noise(64, 48).ensureAlpha(0.5).webp().toBuffer(),
};
const kinds = Object.entries(picture);

/** A PNG with chunks put in behind its header. */
const pngWith = (...chunks: Buffer[]) =>
  Buffer.concat([picture.png.subarray(0, 33), ...chunks, picture.png.subarray(33)]);
const pngOfSize = (width: number, height: number) => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = chunk("IDAT", deflateSync(Buffer.alloc(100)));
  return Buffer.concat([picture.png.subarray(0, 8), chunk("IHDR", header), pixels, chunk("IEND", Buffer.alloc(0))]);
};
const fails = async (bytes: Uint8Array, code: string, decode = true) => {
  await expect(inspectImage(bytes, { decode })).rejects.toMatchObject({ code });
  await expect(normalizeUpload(bytes)).rejects.toMatchObject({ code });
};

describe("a picture that is whole", () => {
  test.each(kinds)("%s is told by its content, with its size", async (kind, bytes) => {
    const format = (await sharp(bytes).metadata()).format;
    const expected = { media_type: `image/${format}`, width: 64, height: 48 };
    expect(await inspectImage(bytes)).toEqual(expected);
    expect(await inspectImage(bytes, { decode: false })).toEqual(expected);
    expect(kind).toBeTruthy();
  });

  test.each(kinds.filter(([kind]) => kind !== "deep" && kind !== "cmyk"))(
    "%s without metadata is kept byte for byte",
    async (_, bytes) => {
      expect((await normalizeUpload(bytes)).bytes).toBe(bytes);
    },
  );

  test.each([
    [16, 16],
    [16_384, 16],
    [16, 16_384],
  ])("may be %i x %i", async (width, height) => {
    expect(await inspectImage(await noise(width, height).png().toBuffer())).toMatchObject({ width, height });
  });
});

describe("415 unsupported_image_format", () => {
  const text = (content: string) => Buffer.from(content);
  test.each([
    ["gif", noise(20, 20).gif().toBuffer()],
    ["tiff", noise(20, 20).tiff().toBuffer()],
    ["avif", noise(20, 20).avif({ effort: 0 }).toBuffer()],
    ["svg", text(`<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><script>1</script></svg>`)],
    ["svg with a PNG word", text(`<?xml version="1.0"?><!-- PNG --><svg width="99" height="99"/>`)],
    ["html", text("<!doctype html><script>alert(1)</script>")],
    ["pdf", text("%PDF-1.7 and so on and so on")],
    ["zip", text("PK\x03\x04 and so on and so on")],
    ["a few words", text("words")],
    ["zeros", Buffer.alloc(1_000)],
  ])("%s", async (_, bytes) => fails(await bytes, "unsupported_image_format"));

  test("other readers are closed in the decoder itself, too", async () => {
    const gif = await noise(20, 20).gif().toBuffer();
    await expect(sharp(gif).metadata()).rejects.toThrow();
    await expect(sharp(Buffer.from("<svg width='99' height='99'/>")).metadata()).rejects.toThrow();
  });
});

describe("422 image_undecodable", () => {
  test.each([0, 1, 2, 11])("%i bytes", (size) => fails(picture.png.subarray(0, size), "image_undecodable"));

  test.each(kinds)("%s cut at any tenth", async (_, bytes) => {
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
    const bytes = Buffer.from(picture.png);
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
    return fails(bytes, "image_undecodable", false);
  });

  test("a PNG whose pixels are fewer than it says", () => fails(pngOfSize(500, 500), "image_undecodable"));

  test("a colour profile that unpacks without end", () => {
    const bomb = Buffer.concat([Buffer.from("icc\0\0", "latin1"), deflateSync(Buffer.alloc(50_000_000))]);
    return fails(pngWith(chunk("iCCP", bomb)), "image_undecodable", false);
  });

  test("no damage to any byte does worse than a fault", async () => {
    for (const [, bytes] of kinds) {
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

  test("a JPEG that says 65,500 x 65,500 is refused", () => {
    const bytes = Buffer.from(picture.jpeg);
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
    fails(await noise(width, height).webp().toBuffer(), "image_too_small"),
  );
});

describe("422 image_animated_not_supported", () => {
  const frames = (count: number) => {
    const data = Buffer.alloc(8);
    data.writeUInt32BE(count, 0);
    return chunk("acTL", data);
  };

  test("an animated PNG is refused, one of a single frame is not", async () => {
    await fails(pngWith(frames(2)), "image_animated_not_supported");
    const { bytes } = await normalizeUpload(pngWith(frames(1)));
    expect(Buffer.from(bytes).equals(picture.png)).toBe(true);
  });

  test("an animated WebP is refused", async () => {
    const raw = { width: 32, height: 96, channels: 3 as const, pageHeight: 32 };
    const strip = await noise(32, 96).raw().toBuffer();
    await fails(
      await sharp(strip, { raw })
        .webp({ loop: 0, delay: [9, 9, 9] })
        .toBuffer(),
      "image_animated_not_supported",
    );
  });
});

describe("metadata of an upload", () => {
  const secret = "the-photographer-was-here";
  const exif = { IFD0: { Copyright: secret, Artist: secret }, IFD3: { GPSLatitude: "51/1 30/1 0/1" } };
  const isFreeOf = (bytes: Uint8Array, ...words: string[]) => {
    for (const word of words) expect(Buffer.from(bytes).includes(word)).toBe(false);
  };

  test.each(["jpeg", "png", "webp"] as const)("is gone from a %s, and the pixels are the same", async (format) => {
    const bytes = await noise(64, 48)
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

  test("is gone, whether it is text, a comment or something hung behind the end", async () => {
    const note = Buffer.from(`note\0${secret}`, "latin1");
    isFreeOf((await normalizeUpload(pngWith(chunk("tEXt", note), chunk("prVt", note)))).bytes, secret);
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, secret.length + 2]), Buffer.from(secret)]);
    const { jpeg } = picture;
    isFreeOf((await normalizeUpload(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]))).bytes, secret);
    for (const [, bytes] of kinds) {
      const tailed = await normalizeUpload(Buffer.concat([bytes, Buffer.from(`<script>${secret}</script>`)]));
      isFreeOf(tailed.bytes, secret, "script");
    }
  });

  test("that unpacks without end is refused, and a little of it is left out", async () => {
    const packed = (size: number) => deflateSync(Buffer.alloc(size));
    const texts = (size: number) => [
      chunk("zTXt", Buffer.concat([Buffer.from("note\0\0", "latin1"), packed(size)])),
      chunk("iTXt", Buffer.concat([Buffer.from("note\0\u0001\0en\0note\0", "latin1"), packed(size)])),
    ];
    for (const text of texts(50_000_000)) await fails(pngWith(text), "image_undecodable", false);
    await fails(pngWith(...Array.from({ length: 5 }, () => texts(300_000)[0]!)), "image_undecodable", false);
    expect(Buffer.from((await normalizeUpload(pngWith(...texts(1000)))).bytes).equals(picture.png)).toBe(true);
  });

  test("keeps a colour profile, and drops one that is broken", async () => {
    for (const format of ["jpeg", "png", "webp"] as const) {
      const bytes = await noise(64, 48).withIccProfile("p3")[format]().toBuffer();
      const clean = await normalizeUpload(bytes);
      expect((await sharp(clean.bytes).metadata()).icc).toBeDefined();
    }
    const profile = (bytes: Uint8Array) => chunk("iCCP", Buffer.concat([Buffer.from("icc\0\0", "latin1"), bytes]));
    for (const broken of [Buffer.from("not packed"), deflateSync(Buffer.alloc(200)), deflateSync(Buffer.alloc(0))]) {
      expect(Buffer.from((await normalizeUpload(pngWith(profile(broken)))).bytes).equals(picture.png)).toBe(true);
    }
  });
});

describe("a signed word about where a picture comes from", () => {
  const store = manifestStore(300_000);

  test.each([
    ["a JPEG", () => jpegWith(picture.jpeg, store)],
    ["a PNG", () => pngWith(chunk("caBX", store))],
    ["a WebP", () => webpWith(picture.webp, "C2PA", store)],
  ])("is taken out of %s whole, and the picture is kept without it", async (_, make) => {
    const bytes = make();
    const { manifest, bytes: clean } = await normalizeUpload(bytes);
    expect(manifest && Buffer.from(manifest).equals(store)).toBe(true);
    expect(Buffer.from(clean).includes("c2pa")).toBe(false);
    expect((await normalizeUpload(clean)).manifest).toBe(undefined);
    const pixels = (file: Uint8Array) => sharp(file).raw().toBuffer();
    expect((await pixels(clean)).equals(await pixels(bytes))).toBe(true);
  });

  test("is none where the box is of another kind, too large, or not there", async () => {
    const other = Buffer.from(store);
    other.write("elif", 16, "latin1");
    const misfits = [other, manifestStore(9_000_000), Buffer.from("short"), Buffer.alloc(0)];
    for (const misfit of misfits) {
      expect((await normalizeUpload(pngWith(chunk("caBX", misfit)))).manifest).toBe(undefined);
    }
    for (const misfit of [other, Buffer.from("short"), Buffer.alloc(0)]) {
      expect((await normalizeUpload(jpegWith(picture.jpeg, misfit))).manifest).toBe(undefined);
    }
    expect((await normalizeUpload(picture.png)).manifest).toBe(undefined);
  });

  test("is found among boxes of other kinds", async () => {
    const other = Buffer.from(store.subarray(0, 100));
    other.write("elif", 16, "latin1");
    const { manifest } = await normalizeUpload(jpegWith(jpegWith(picture.jpeg, store, 2), other, 1));
    expect(manifest && Buffer.from(manifest).equals(store)).toBe(true);
  });
});

describe("an upload that lies on its side", () => {
  // Four colours in the corners tell every turn and every mirror image apart.
  const corners = Buffer.alloc(64 * 48 * 3);
  for (let y = 0; y < 48; y++) {
    for (let x = 0; x < 64; x++) corners.set([x < 32 ? 250 : 10, y < 24 ? 250 : 10, 128], (y * 64 + x) * 3);
  }
  const turned = (orientation: number) =>
    sharp(corners, { raw: { width: 64, height: 48, channels: 3 } }).withMetadata({ orientation });
  const encoded = (orientation: number, format: "jpeg" | "png" | "webp") => turned(orientation)[format]().toBuffer();

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is kept upright from orientation %i", async (orientation) => {
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

  test("is refused when its pixels are not all there", async () => {
    const bytes = await encoded(6, "png");
    const pixels = bytes.indexOf("IDAT") - 4;
    const few = [
      bytes.subarray(0, pixels),
      chunk("IDAT", deflateSync(Buffer.alloc(99))),
      chunk("IEND", Buffer.alloc(0)),
    ];
    await fails(Buffer.concat(few), "image_undecodable");
  });
});
