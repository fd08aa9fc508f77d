import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { chunk, latin, manifestStore, png, signature } from "../../test/corpora/bytes.ts";
import { clean, profileOf, reasonOf } from "../../test/corpora/verdicts.ts";
import { cleanBytes } from "./image-layout.ts";
import { isPng, readPng } from "./layout-png.ts";

describe("a PNG", () => {
  const packed = deflateSync(Buffer.alloc(65 * 48));
  const plain = png({ width: 64, height: 48 }, packed);
  const withChunks = (...more: Buffer[]) => png({ width: 64, height: 48 }, packed, ...more);

  test("is told by its signature", () => {
    expect(isPng(plain)).toBe(true);
    for (let at = 0; at < 8; at++) {
      const other = Buffer.from(plain);
      other[at]! ^= 1;
      expect(isPng(other)).toBe(false);
    }
  });

  test("says its size, that nothing is lost in it, and which way it lies", () => {
    const facts = { media_type: "image/png", width: 64, height: 48, isAnimated: false, orientation: 1 };
    expect(readPng(plain)).toMatchObject({ ...facts, isLossless: true, isForPrint: false, manifest: undefined });
    const exif = Buffer.concat([latin("MM\0*"), Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])]);
    expect(readPng(withChunks(chunk("eXIf", exif)))).toMatchObject({ ...facts, orientation: 6 });
    expect(readPng(withChunks(chunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))))).toMatchObject({
      isAnimated: true,
    });
    expect(readPng(withChunks(chunk("acTL", Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]))))).toMatchObject({
      isAnimated: false,
    });
    const [first, second] = [manifestStore(300), manifestStore(400)];
    expect(readPng(withChunks(chunk("caBX", first), chunk("caBX", second))).manifest).toEqual(first);
  });

  test("keeps what its picture is made of, and loses the rest", () => {
    const looks = ["PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "cICP", "mDCV", "cLLI", "sBIT", "pHYs"];
    const whole = withChunks(...looks.map((type) => chunk(type, Buffer.from([1, 2, 3]))));
    expect(cleanBytes(whole, readPng(whole))).toBe(whole);
    const others = ["tEXt", "tIME", "eXIf", "prVt", "bKGD", "hIST", "sPLT", "caBX", "dSIG"];
    const dirty = withChunks(...others.map((type) => chunk(type, Buffer.from("words of another"))));
    expect(clean(dirty, readPng).equals(plain)).toBe(true);
    expect(clean(Buffer.concat([plain, Buffer.from("tail")]), readPng).equals(plain)).toBe(true);
    const unchecked = withChunks(chunk("tEXt", Buffer.from("x")));
    unchecked[unchecked.indexOf("tEXt") + 5]! ^= 1;
    expect(clean(unchecked, readPng).equals(plain)).toBe(true);
  });

  const note = (type: string, head: string, bytes: Uint8Array) => chunk(type, Buffer.concat([latin(head), bytes]));

  test("keeps a profile that is one, and loses one that is none", () => {
    const whole = withChunks(note("iCCP", "name\0\0", deflateSync(profileOf(500))));
    expect(clean(whole, readPng).equals(whole)).toBe(true);
    for (const broken of [Buffer.from("not packed"), deflateSync(Buffer.alloc(500)), Buffer.alloc(0)]) {
      expect(clean(withChunks(note("iCCP", "name\0\0", broken)), readPng).equals(plain)).toBe(true);
    }
  });

  const language = "name\0\x01\0en\0translated\0";
  test.each([
    ["iCCP", "name\0\0"],
    ["zTXt", "name\0\0"],
    ["iTXt", language],
    ["iTXt", "name\0\x01\0\0\0"],
  ])("may unpack to a mebibyte in %s, and not to a byte more", (type, head) => {
    const mebibyte = 1024 * 1024;
    const of = (size: number) => withChunks(note(type, head, deflateSync(Buffer.alloc(size))));
    expect(clean(of(mebibyte), readPng).equals(plain)).toBe(true);
    expect(reasonOf(() => readPng(of(mebibyte + 1)))).toBe("metadata too large");
  });

  test("counts all that it unpacks together, and what breaks as far as it may have come", () => {
    const half = note("zTXt", "n\0\0", deflateSync(Buffer.alloc(600_000)));
    expect(reasonOf(() => readPng(withChunks(half)))).toBe("nothing");
    expect(reasonOf(() => readPng(withChunks(half, half)))).toBe("metadata too large");
    const broken = note("zTXt", "n\0\0", Buffer.alloc(1100, 1));
    const after = note("iCCP", "n\0\0", deflateSync(profileOf(500)));
    expect(clean(withChunks(broken, half, half, after), readPng).equals(plain)).toBe(true);
    const short = note("zTXt", "n\0\0", Buffer.alloc(3, 1));
    const whole = withChunks(after);
    expect(clean(withChunks(short, after), readPng).equals(whole)).toBe(true);
  });

  test("does not unpack what is not packed", () => {
    const bomb = deflateSync(Buffer.alloc(5_000_000));
    for (const [type, head] of [
      ["tEXt", "name\0\0"],
      ["iTXt", "name\0\0\0en\0translated\0"],
      ["iTXt", "name\0\x02\0en\0\0"],
      ["prVt", "name\0\0"],
    ]) {
      expect(clean(withChunks(note(type!, head!, bomb)), readPng).equals(plain)).toBe(true);
    }
  });

  const header = plain.subarray(8, 33);
  test.each<[string, string, Buffer]>([
    [
      "another chunk before its header",
      "misplaced header",
      Buffer.concat([signature, chunk("tEXt", latin("x")), plain.subarray(8)]),
    ],
    ["two headers", "misplaced header", withChunks(header)],
    ["no pixels", "no pixels", Buffer.concat([signature, header, chunk("IEND", Buffer.alloc(0))])],
    ["nothing but an end", "misplaced header", Buffer.concat([signature, chunk("IEND", Buffer.alloc(0))])],
    ["no end", "truncated", plain.subarray(0, -12)],
    ["half an end", "truncated", plain.subarray(0, -1)],
    ["a short header", "truncated", Buffer.concat([signature, chunk("IHDR", Buffer.alloc(7)), plain.subarray(33)])],
    ["a short animation", "truncated", withChunks(chunk("acTL", Buffer.alloc(3)))],
    ["a critical chunk that nobody knows", "unknown chunk", withChunks(chunk("ABCD", latin("x")))],
    ["only its signature", "truncated", signature],
  ])("with %s is damaged: %s", (_, reason, bytes) => {
    expect(reasonOf(() => readPng(bytes))).toBe(reason);
  });

  test("is checked wherever it is kept", () => {
    for (const type of ["IHDR", "IDAT", "IEND"]) {
      const wrong = Buffer.from(plain);
      wrong[wrong.indexOf(type) - 4 + 8 + wrong.readUInt32BE(wrong.indexOf(type) - 4)]! ^= 1;
      expect([type, reasonOf(() => readPng(wrong))]).toEqual([type, "checksum"]);
    }
  });
});
