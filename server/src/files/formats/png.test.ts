import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  buildPng,
  createC2paManifestStore,
  latin1,
  PNG_SIGNATURE,
  pngChunk,
} from "../../../test/corpora/image-bytes.ts";
import { minimalIccProfile, rejectionReason, strippedBytes } from "../../../test/corpora/image-structure-checks.ts";
import { detectType } from "./detect-type.ts";
import { stripMetadata } from "./image-structure.ts";
import { readPngStructure } from "./png.ts";

describe("a PNG", () => {
  const packed = deflateSync(Buffer.alloc(65 * 48));
  const plain = buildPng({ width: 64, height: 48 }, packed);
  const withChunks = (...more: Buffer[]) => buildPng({ width: 64, height: 48 }, packed, ...more);

  test("is recognized by its signature", () => {
    expect(detectType(plain)).toBe("image/png");
    for (let at = 0; at < 8; at++) {
      const other = Buffer.from(plain);
      other[at]! ^= 1;
      expect(detectType(other)).toBeUndefined();
    }
  });

  test("yields its size, that it is lossless, and its orientation", () => {
    const facts = { media_type: "image/png", width: 64, height: 48, isAnimated: false, orientation: 1 };
    expect(readPngStructure(plain)).toMatchObject({
      ...facts,
      isLossless: true,
      isCmyk: false,
      c2paManifest: undefined,
    });
    const exif = Buffer.concat([latin1("MM\0*"), Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])]);
    expect(readPngStructure(withChunks(pngChunk("eXIf", exif)))).toMatchObject({ ...facts, orientation: 6 });
    expect(readPngStructure(withChunks(pngChunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))))).toMatchObject({
      isAnimated: true,
    });
    expect(readPngStructure(withChunks(pngChunk("acTL", Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]))))).toMatchObject({
      isAnimated: false,
    });
    const [first, second] = [createC2paManifestStore(300), createC2paManifestStore(400)];
    expect(readPngStructure(withChunks(pngChunk("caBX", first), pngChunk("caBX", second))).c2paManifest).toEqual(first);
  });

  test("keeps the chunks of its image, and loses the rest", () => {
    const looks = ["PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "cICP", "mDCV", "cLLI", "sBIT", "pHYs"];
    const whole = withChunks(...looks.map((type) => pngChunk(type, Buffer.from([1, 2, 3]))));
    expect(stripMetadata(whole, readPngStructure(whole))).toBe(whole);
    const others = ["tEXt", "tIME", "eXIf", "prVt", "bKGD", "hIST", "sPLT", "caBX", "dSIG"];
    const dirty = withChunks(...others.map((type) => pngChunk(type, Buffer.from("words of another"))));
    expect(strippedBytes(dirty, readPngStructure).equals(plain)).toBe(true);
    expect(strippedBytes(Buffer.concat([plain, Buffer.from("tail")]), readPngStructure).equals(plain)).toBe(true);
    const unchecked = withChunks(pngChunk("tEXt", Buffer.from("x")));
    unchecked[unchecked.indexOf("tEXt") + 5]! ^= 1;
    expect(strippedBytes(unchecked, readPngStructure).equals(plain)).toBe(true);
  });

  const note = (type: string, head: string, bytes: Uint8Array) => pngChunk(type, Buffer.concat([latin1(head), bytes]));

  test("keeps a valid profile, and loses an invalid one", () => {
    const whole = withChunks(note("iCCP", "name\0\0", deflateSync(minimalIccProfile(500))));
    expect(strippedBytes(whole, readPngStructure).equals(whole)).toBe(true);
    for (const broken of [Buffer.from("not packed"), deflateSync(Buffer.alloc(500)), Buffer.alloc(0)]) {
      expect(strippedBytes(withChunks(note("iCCP", "name\0\0", broken)), readPngStructure).equals(plain)).toBe(true);
    }
  });

  const language = "name\0\x01\0en\0translated\0";
  test.each([
    ["iCCP", "name\0\0"],
    ["zTXt", "name\0\0"],
    ["iTXt", language],
    ["iTXt", "name\0\x01\0\0\0"],
  ])("can decompress to 1 MiB in %s, and not to a byte more", (type, head) => {
    const mebibyte = 1024 * 1024;
    const of = (size: number) => withChunks(note(type, head, deflateSync(Buffer.alloc(size))));
    expect(strippedBytes(of(mebibyte), readPngStructure).equals(plain)).toBe(true);
    expect(rejectionReason(() => readPngStructure(of(mebibyte + 1)))).toBe("metadata too large");
  });

  test("counts all decompressed chunks together, and broken ones as far as they were read", () => {
    const half = note("zTXt", "n\0\0", deflateSync(Buffer.alloc(600_000)));
    expect(rejectionReason(() => readPngStructure(withChunks(half)))).toBe("nothing");
    expect(rejectionReason(() => readPngStructure(withChunks(half, half)))).toBe("metadata too large");
    const broken = note("zTXt", "n\0\0", Buffer.alloc(1100, 1));
    const after = note("iCCP", "n\0\0", deflateSync(minimalIccProfile(500)));
    expect(strippedBytes(withChunks(broken, half, half, after), readPngStructure).equals(plain)).toBe(true);
    const short = note("zTXt", "n\0\0", Buffer.alloc(3, 1));
    const whole = withChunks(after);
    expect(strippedBytes(withChunks(short, after), readPngStructure).equals(whole)).toBe(true);
  });

  test("does not decompress uncompressed chunks", () => {
    const bomb = deflateSync(Buffer.alloc(5_000_000));
    for (const [type, head] of [
      ["tEXt", "name\0\0"],
      ["iTXt", "name\0\0\0en\0translated\0"],
      ["iTXt", "name\0\x02\0en\0\0"],
      ["prVt", "name\0\0"],
    ]) {
      expect(strippedBytes(withChunks(note(type!, head!, bomb)), readPngStructure).equals(plain)).toBe(true);
    }
  });

  const header = plain.subarray(8, 33);
  test.each<[string, string, Buffer]>([
    [
      "another chunk before its header",
      "misplaced header",
      Buffer.concat([PNG_SIGNATURE, pngChunk("tEXt", latin1("x")), plain.subarray(8)]),
    ],
    ["two headers", "misplaced header", withChunks(header)],
    ["no pixels", "no pixels", Buffer.concat([PNG_SIGNATURE, header, pngChunk("IEND", Buffer.alloc(0))])],
    ["nothing but an end", "misplaced header", Buffer.concat([PNG_SIGNATURE, pngChunk("IEND", Buffer.alloc(0))])],
    ["no end", "truncated", plain.subarray(0, -12)],
    ["half an end", "truncated", plain.subarray(0, -1)],
    [
      "a short header",
      "truncated",
      Buffer.concat([PNG_SIGNATURE, pngChunk("IHDR", Buffer.alloc(7)), plain.subarray(33)]),
    ],
    ["a short animation", "truncated", withChunks(pngChunk("acTL", Buffer.alloc(3)))],
    ["an unknown critical chunk", "unknown chunk", withChunks(pngChunk("ABCD", latin1("x")))],
    ["only its signature", "truncated", PNG_SIGNATURE],
  ])("with %s is damaged: %s", (_, reason, bytes) => {
    expect(rejectionReason(() => readPngStructure(bytes))).toBe(reason);
  });

  test("is checked also in chunks that are kept", () => {
    for (const type of ["IHDR", "IDAT", "IEND"]) {
      const wrong = Buffer.from(plain);
      wrong[wrong.indexOf(type) - 4 + 8 + wrong.readUInt32BE(wrong.indexOf(type) - 4)]! ^= 1;
      expect([type, rejectionReason(() => readPngStructure(wrong))]).toEqual([type, "checksum"]);
    }
  });
});
