import { describe, expect, test } from "vitest";
import { createC2paManifestStore, jpegSegment, latin1 } from "../../../test/corpora/image-bytes.ts";
import { minimalIccProfile, rejectionReason, strippedBytes } from "../../../test/corpora/image-structure-checks.ts";
import { detectType } from "./detect-type.ts";
import { stripMetadata } from "./image-structure.ts";
import { readJpegStructure } from "./jpeg.ts";

describe("a JPEG", () => {
  const start = Buffer.from([0xff, 0xd8]);
  const end = Buffer.from([0xff, 0xd9]);
  const frame = (code = 0xc0, components = 3) =>
    jpegSegment(code, Buffer.from([8, 0, 48, 0, 64, components, 1, 0x11, 0]));
  const scan = (...data: number[]) =>
    Buffer.concat([jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from(data)]);
  const jpeg = (...segments: Buffer[]) => Buffer.concat([start, ...segments, end]);
  const plain = jpeg(frame(), scan(1, 2, 3));
  const icc = (bytes: Buffer, part = 1, of = 1) =>
    jpegSegment(0xe2, Buffer.concat([latin1("ICC_PROFILE\0"), Buffer.from([part, of]), bytes]));
  const jfif = jpegSegment(0xe0, Buffer.concat([latin1("JFIF\0"), Buffer.from([1, 2, 0, 0, 1, 0, 1, 0, 0])]));
  const adobe = jpegSegment(0xee, Buffer.concat([latin1("Adobe"), Buffer.from([0, 100, 0, 0, 0, 0, 1])]));

  test("is recognized by its first three bytes", () => {
    expect(detectType(plain)).toBe("image/jpeg");
    for (const at of [0, 1, 2]) {
      const other = Buffer.from(plain);
      other[at] = 0;
      expect(detectType(other)).toBeUndefined();
    }
  });

  test("yields its size and colours", () => {
    const expected = { media_type: "image/jpeg", width: 64, height: 48, isAnimated: false, isLossless: false };
    const facts = { ...expected, orientation: 1, c2paManifest: undefined, isCmyk: false };
    for (const code of [0xc0, 0xc1, 0xc2]) expect(readJpegStructure(jpeg(frame(code), scan()))).toMatchObject(facts);
    expect(readJpegStructure(jpeg(frame(0xc0, 4), scan()))).toMatchObject({ ...facts, isCmyk: true });
    expect(readJpegStructure(jpeg(frame(0xc0, 1), scan()))).toMatchObject(facts);
  });

  test("keeps the segments of its image byte for byte", () => {
    const tables = [0xc4, 0xdb, 0xdc, 0xdd].map((code) => jpegSegment(code, Buffer.from([1, 2, 3])));
    const whole = jpeg(
      jfif,
      adobe,
      ...tables,
      frame(),
      icc(minimalIccProfile(200)),
      scan(5, 0xff, 0, 6, 0xff, 0xd0, 7, 0xff, 0xd7, 8),
      scan(9),
    );
    expect(stripMetadata(whole, readJpegStructure(whole))).toBe(whole);
    const filled = Buffer.concat([start, Buffer.from([0xff, 0xff]), frame(), scan(1), end]);
    expect(stripMetadata(filled, readJpegStructure(filled))).toBe(filled);
  });

  test("loses everything else: metadata of applications, comments, thumbnails, data after the end", () => {
    const words = Buffer.from("words of another");
    const others = [0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xed, 0xee, 0xef, 0xfe, 0xf0].map((code) => jpegSegment(code, words));
    const thumbnail = jpegSegment(0xe0, Buffer.concat([jfif.subarray(4), words]));
    const longAdobe = jpegSegment(0xee, Buffer.concat([adobe.subarray(4), words]));
    const dirty = Buffer.concat([
      jpeg(...others, thumbnail, longAdobe, frame(), ...others, scan(1, 2, 3), ...others),
      words,
    ]);
    expect(strippedBytes(dirty, readJpegStructure).equals(plain)).toBe(true);
  });

  test("has segments that are recognized by kind and name together", () => {
    const named = (code: number, name: string, length: number) => jpegSegment(code, Buffer.alloc(length, name));
    const profile = Buffer.concat([latin1("ICC_PROFILE\0\x01\x01"), minimalIccProfile(200)]);
    const otherSegments = [
      named(0xe0, "x", 14),
      named(0xee, "x", 12),
      jpegSegment(0xe3, profile),
      jpegSegment(0xe2, minimalIccProfile(200)),
    ];
    for (const otherSegment of otherSegments) {
      expect(strippedBytes(jpeg(otherSegment, frame(), scan(1, 2, 3)), readJpegStructure).equals(plain)).toBe(true);
    }
    const both = jpeg(
      icc(minimalIccProfile(200)),
      jpegSegment(0xfe, latin1("a comment of some length")),
      frame(),
      scan(1, 2, 3),
    );
    expect(
      strippedBytes(both, readJpegStructure).equals(jpeg(icc(minimalIccProfile(200)), frame(), scan(1, 2, 3))),
    ).toBe(true);
    const exif = Buffer.concat([
      latin1("Exif\0\0MM\0*"),
      Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]),
    ]);
    expect(readJpegStructure(jpeg(jpegSegment(0xe5, exif), frame(), scan())).orientation).toBe(1);
  });

  test("keeps a profile in several parts, and loses all parts of a broken one", () => {
    const profile = minimalIccProfile(300);
    const parts = [icc(profile.subarray(0, 200), 1, 2), icc(profile.subarray(200), 2, 2)];
    const whole = jpeg(...parts, frame(), scan(1, 2, 3));
    expect(strippedBytes(whole, readJpegStructure).equals(whole)).toBe(true);
    expect(strippedBytes(jpeg(parts[0]!, frame(), scan(1, 2, 3)), readJpegStructure).equals(plain)).toBe(true);
    const otherSegment = jpegSegment(0xe2, latin1("MPF\0 words of another, in the same kind of segment"));
    const beside = jpeg(parts[0]!, otherSegment, parts[1]!, frame(), scan(1, 2, 3));
    expect(strippedBytes(beside, readJpegStructure).equals(whole)).toBe(true);
  });

  test("takes its orientation from its first EXIF segment", () => {
    const exif = (value: number) =>
      jpegSegment(
        0xe1,
        Buffer.concat([
          latin1("Exif\0\0MM\0*"),
          Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, value, 0, 0]),
        ]),
      );
    expect(readJpegStructure(jpeg(exif(6), exif(3), frame(), scan())).orientation).toBe(6);
    const xmp = jpegSegment(0xe1, latin1("http://ns.adobe.com/xap/1.0/\0"));
    expect(readJpegStructure(jpeg(xmp, exif(8), frame(), scan())).orientation).toBe(8);
  });

  test("yields its manifest, also from several parts", () => {
    const part = (number: number, count: number, bytes: Buffer, kind = "JP") =>
      jpegSegment(0xeb, Buffer.concat([latin1(kind), Buffer.from([0, number, 0, 0, 0, count]), bytes]));
    const store = createC2paManifestStore(2000);
    const held = (...segments: Buffer[]) => readJpegStructure(jpeg(...segments, frame(), scan())).c2paManifest;
    const again = store.subarray(0, 8);
    const split = [part(3, 1, store.subarray(0, 700)), part(3, 2, Buffer.concat([again, store.subarray(700)]))];
    expect(held(...split)).toEqual(store);
    expect(held(part(1, 1, Buffer.from("another box of some length")), ...split)).toEqual(store);
    expect(held(part(3, 1, store, "XX"))).toBe(undefined);
    expect(held(part(3, 1, Buffer.alloc(0)))).toBe(undefined);
    expect(held(jpegSegment(0xeb, latin1("JP")))).toBe(undefined);
    expect(held(jpegSegment(0xea, split[0]!.subarray(4)))).toBe(undefined);
  });

  test.each<[string, string, Buffer]>([
    ["two frames", "unknown frame", jpeg(frame(), frame(), scan())],
    ["a second frame behind its pixels", "unknown frame", jpeg(frame(), scan(1, 2, 3), frame(), scan(1))],
    ...[0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf].map((code): [string, string, Buffer] => [
      ...([`a frame of kind ${code.toString(16)}`, "unknown frame"] as const),
      jpeg(frame(), jpegSegment(code, Buffer.alloc(9)), scan()),
    ]),
    ["no frame", "no pixels", jpeg(scan())],
    ["no scan", "no pixels", jpeg(frame())],
    ["a short frame", "truncated", jpeg(jpegSegment(0xc0, Buffer.from([8, 0, 48, 0, 64])), scan())],
    ["no marker", "no marker", Buffer.concat([start, Buffer.from([0x01, 0xc0]), plain])],
    ["a second beginning", "misplaced marker", Buffer.concat([start, plain])],
    ["a stuffed byte between segments", "misplaced marker", Buffer.concat([start, Buffer.from([0xff, 0]), plain])],
    ["a segment longer than the file", "truncated", Buffer.concat([start, Buffer.from([0xff, 0xe1, 0xff, 0xff, 1])])],
    ["a marker without a length", "truncated", Buffer.concat([start, Buffer.from([0xff, 0xe1])])],
    ["nothing", "truncated", start],
    ["fill bytes to the end", "truncated", Buffer.concat([start, Buffer.alloc(9, 0xff)])],
    [
      "an end of another kind in its scan",
      "truncated",
      Buffer.concat([start, frame(), scan(1, 0xff, 0xcc), Buffer.from([0, 2])]),
    ],
    ["a scan without end", "truncated", Buffer.concat([start, frame(), scan(1, 2, 0xff, 0)])],
    ["a scan that ends in half a marker", "truncated", Buffer.concat([start, frame(), scan(1, 2, 0xff)])],
    ["no end after a segment", "truncated", Buffer.concat([start, frame()])],
  ])("with %s is damaged: %s", (_, reason, bytes) => {
    expect(rejectionReason(() => readJpegStructure(bytes))).toBe(reason);
  });

  test("can end with a segment that fills it to the last byte, but needs an end marker", () => {
    const whole = Buffer.concat([start, frame(), scan(1), jpegSegment(0xfe, latin1("note"))]);
    expect(rejectionReason(() => readJpegStructure(whole))).toBe("truncated");
    expect(rejectionReason(() => readJpegStructure(Buffer.concat([whole, end])))).toBe("nothing");
  });
});
