import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { buildPng, createC2paManifestStore, latin1, pngChunk } from "../../../test/corpora/image-bytes.ts";
import { minimalIccProfile, rejectionReason } from "../../../test/corpora/image-structure-checks.ts";
import { createImageDecoder } from "../images/image-decoder.ts";
import { exifOrientation } from "./exif-orientation.ts";
import type { FileWalk } from "./file-parts.ts";
import {
  createBoundedReader,
  createRangeCollector,
  isIccProfile,
  parseC2paManifest,
  piecesOfWhole,
} from "./image-structure.ts";

describe("the EXIF orientation", () => {
  const exif = (value: number, { order = "MM", tag = 0x0112, count = 1, magic = 42 } = {}) => {
    const bytes = Buffer.alloc(8 + 2 + 12 * count);
    const [u16, u32] =
      order === "II" ? (["writeUInt16LE", "writeUInt32LE"] as const) : (["writeUInt16BE", "writeUInt32BE"] as const);
    bytes.write(order, 0, "latin1");
    bytes[u16](magic, 2);
    bytes[u32](8, 4);
    bytes[u16](count, 8);
    const at = 10 + 12 * (count - 1);
    bytes[u16](tag, at);
    bytes[u16](3, at + 2);
    bytes[u16](value, at + 8);
    return bytes;
  };

  test("is read in all eight values, in both byte orders, with or without a header, at any position", () => {
    for (let value = 1; value <= 8; value++) {
      for (const order of ["MM", "II"]) {
        expect(exifOrientation(exif(value, { order }))).toBe(value);
        expect(exifOrientation(Buffer.concat([latin1("Exif\0\0"), exif(value, { order })]))).toBe(value);
        expect(exifOrientation(exif(value, { order, count: 3 }))).toBe(value);
      }
    }
  });

  test("is upright if it is missing or invalid", () => {
    const whole = exif(6);
    for (const strange of [
      exif(0),
      exif(9),
      exif(6, { tag: 0x0113 }),
      exif(6, { order: "XX" }),
      exif(6, { magic: 43 }),
      exif(6, { order: "II", magic: 43 }),
    ]) {
      expect(exifOrientation(strange)).toBe(1);
    }
    for (let size = 0; size < whole.length - 3; size++) expect(exifOrientation(whole.subarray(0, size))).toBe(1);
    expect(exifOrientation(Buffer.concat([latin1("Exif\0x"), whole]))).toBe(1);
    // The first list alone is read, and only as many entries as it says.
    const few = exif(6, { count: 2 });
    few.writeUInt16BE(1, 8);
    expect(exifOrientation(few)).toBe(1);
  });
});

describe("the byte reader", () => {
  test("reads both byte orders, and reports damage past the end", () => {
    const read = createBoundedReader(Buffer.from([1, 2, 3, 4]));
    expect([read.u8(3), read.u16(0), read.u16(0, true), read.u32(0), read.u32(0, true), read.text(0, 2)]).toEqual([
      ...[4, 0x0102, 0x0201, 0x01020304, 0x04030201, "\x01\x02"],
    ]);
    for (const past of [() => read.u8(4), () => read.u16(3), () => read.u32(1), () => read.u8(-1)]) {
      expect(rejectionReason(past)).toBe("truncated");
    }
  });

  test("joins adjacent ranges and keeps gaps", () => {
    const kept = createRangeCollector(Buffer.from([0, 1, 2, 3, 4, 5]));
    expect(kept.parts()).toEqual([]);
    kept.keep(0, 2);
    kept.keep(2, 3);
    kept.keep(4, 6);
    expect(kept.parts().map((part) => [...part])).toEqual([
      [0, 1, 2],
      [4, 5],
    ]);
  });

  test("accepts 65,536 pieces and not one more, of a file that does not end too early", () => {
    function* walk(count: number, isCut = false): FileWalk<number> {
      for (let piece = 0; piece < count; piece++) yield piece;
      return { isCut };
    }
    expect([...piecesOfWhole(walk(65_536))]).toHaveLength(65_536);
    expect(rejectionReason(() => [...piecesOfWhole(walk(65_537))])).toBe("too many pieces");
    expect(rejectionReason(() => [...piecesOfWhole(walk(2, true))])).toBe("truncated");
  });

  test("recognizes a manifest store by its boxes and its size", () => {
    const store = createC2paManifestStore(1000);
    expect(parseC2paManifest(store)).toBe(store);
    expect(parseC2paManifest(undefined)).toBe(undefined);
    for (const at of [4, 7, 12, 15, 16, 19]) {
      const other = Buffer.from(store);
      other[at]! ^= 1;
      expect(parseC2paManifest(other)).toBe(undefined);
    }
    const most = Buffer.concat([store, Buffer.alloc(8 * 1024 * 1024 - store.length)]);
    expect(parseC2paManifest(most)).toBe(most);
    expect(parseC2paManifest(Buffer.concat([most, Buffer.alloc(1)]))).toBe(undefined);
  });

  test("recognizes a colour profile by its length and its name", () => {
    expect([isIccProfile(minimalIccProfile(128)), isIccProfile(minimalIccProfile(4 * 1024 * 1024))]).toEqual([
      true,
      true,
    ]);
    expect([
      isIccProfile(minimalIccProfile(127)),
      isIccProfile(Buffer.alloc(0)),
      isIccProfile(Buffer.alloc(200)),
    ]).toEqual([false, false, false]);
    const [longer, nameless] = [minimalIccProfile(200), minimalIccProfile(200)];
    longer.writeUInt32BE(201, 0);
    nameless.write("xcsp", 36, "latin1");
    expect([isIccProfile(longer), isIccProfile(nameless)]).toEqual([false, false]);
    expect(rejectionReason(() => isIccProfile(minimalIccProfile(4 * 1024 * 1024 + 1)))).toBe(
      "colour profile too large",
    );
  });
});

describe("the image decoder", () => {
  const asked: object[] = [];
  const { inspect } = createImageDecoder({
    perform: async ({ header, bytes }) => {
      asked.push({ ...header, size: bytes.byteLength });
      return { header: {}, bytes };
    },
  });
  const of = (width: number, height: number) => buildPng({ width, height }, deflateSync(Buffer.alloc(4)));

  test("verifies every pixel unless `decode` is false", async () => {
    await inspect(of(64, 48), { decode: false });
    expect(asked).toEqual([]);
    await inspect(of(64, 48));
    await inspect(of(64, 48), {});
    expect(asked).toEqual(Array(2).fill({ work: "verify", size: of(64, 48).length }));
  });

  test("accepts sizes up to their bounds and reports the exceeded bound", async () => {
    for (const [width, height] of [
      [16, 16],
      [16_384, 16],
      [16, 16_384],
      [10_000, 5000],
    ] as const) {
      expect(await inspect(of(width, height), { decode: false })).toEqual({ media_type: "image/png", width, height });
    }
    for (const [width, height, code] of [
      [15, 16, "image_too_small"],
      [16, 15, "image_too_small"],
      [16_385, 16, "image_too_many_pixels"],
      [16, 16_385, "image_too_many_pixels"],
      [10_000, 5001, "image_too_many_pixels"],
    ] as const) {
      await expect(inspect(of(width, height), { decode: false })).rejects.toMatchObject({
        code,
        details: { width, height },
      });
    }
  });

  test("recognizes the beginning of an image", async () => {
    const codeOf = (text: string) =>
      inspect(latin1(text), { decode: false }).then(
        () => "kept",
        ({ code, details }) => `${code} ${details.reason ?? ""}`,
      );
    for (const short of [
      "",
      "\x89",
      "\x89PNG\r\n\x1a\n",
      "\x89PNG\r\n\x1a\nxxx",
      "\xff",
      "\xff\xd8\xff",
      "\xff\xd8\xffxxxxxxxx",
      "R",
      "RIFF",
      "RIFFxxxxWEB",
    ]) {
      expect([short, await codeOf(short)]).toEqual([short, "image_undecodable truncated"]);
    }
    for (const other of ["x", "\x89x", "RIFX", "\xff\xd9", "RIFFxxxxWAVE", "\x89PNG\r\n\x1a\rxxxxx", "xxxxxxxxxxxx"]) {
      expect([other, await codeOf(other)]).toEqual([other, "unsupported_image_format "]);
    }
  });

  /** A decoder process that returns `header` and `bytes`, and the requests that it received. */
  const answering = (header: Record<string, unknown>, bytes: Uint8Array = new Uint8Array()) => {
    const heard: Record<string, unknown>[] = [];
    const gate = createImageDecoder({
      perform: async (frame) => {
        heard.push(frame.header);
        return { header, bytes };
      },
    });
    return { ...gate, heard };
  };
  const refused = { code: "image_undecodable", details: { reason: "pixels" } };

  test("uses the mask that the decoder process returns, or the given one if it is unchanged, and refuses other data", async () => {
    const [given, drawn] = [of(64, 48), of(48, 64)];
    const same = answering({ isUnchanged: true }, drawn);
    expect(await same.toMask(given)).toBe(given);
    expect(same.heard).toEqual([{ work: "mask" }]);
    expect(await answering({}, drawn).toMask(given)).toBe(drawn);
    expect(await answering({ isUnchanged: false }, drawn).toMask(given)).toBe(drawn);
    await expect(answering({}, latin1("<script>")).toMask(given)).rejects.toMatchObject({
      code: "unsupported_image_format",
    });
    await expect(answering({ error: "vips" }, drawn).toMask(given)).rejects.toMatchObject({
      ...refused,
      cause: "vips",
    });
  });

  test("accepts from a decoder process only the requested image", async () => {
    const exif = Buffer.concat([latin1("MM\0*"), Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])]);
    const lying = buildPng({ width: 64, height: 48 }, deflateSync(Buffer.alloc(4)), pngChunk("eXIf", exif));
    const upright = Buffer.concat([of(48, 64), latin1("tail")]);
    const honest = answering({}, upright);
    expect(await honest.normalize(lying)).toMatchObject({ width: 48, height: 64, bytes: of(48, 64) });
    expect(honest.heard).toEqual([
      { work: "reencode", options: { media_type: "image/png", orientation: 6, isLossless: true } },
    ]);
    const webp = Buffer.from("RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x30\0\x40\0", "latin1");
    for (const other of [of(48, 48), of(64, 64), of(64, 48), webp]) {
      const lie = answering({}, other).normalize(lying);
      await expect(lie).rejects.toMatchObject({ ...refused, cause: "the decoder returned another image" });
    }
  });
});
