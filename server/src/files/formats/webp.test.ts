import { describe, expect, test } from "vitest";
import { createC2paManifestStore, latin1 } from "../../../test/corpora/image-bytes.ts";
import { minimalIccProfile, rejectionReason, strippedBytes } from "../../../test/corpora/image-structure-checks.ts";
import { detectType } from "./detect-type.ts";
import { stripMetadata } from "./image-structure.ts";
import { readWebpStructure } from "./webp.ts";

describe("a WebP", () => {
  const part = (type: string, data: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(data.length);
    return Buffer.concat([latin1(type), size, data, Buffer.alloc(data.length % 2)]);
  };
  const webp = (...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(body.length + 4);
    return Buffer.concat([latin1("RIFF"), size, latin1("WEBP"), body]);
  };
  const lossy = part("VP8 ", Buffer.from([0, 0, 0, 0x9d, 1, 0x2a, 0x40, 0x80, 0x30, 0xc0, 1, 2]));
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE((63 | (47 << 14) | (1 << 28)) >>> 0);
  const lossless = part("VP8L", Buffer.concat([Buffer.from([0x2f]), bits, Buffer.from([1])]));
  const canvas = (flags: number, width = 64, height = 48) => {
    const data = Buffer.alloc(10);
    data[0] = flags;
    data.writeUIntLE(width - 1, 4, 3);
    data.writeUIntLE(height - 1, 7, 3);
    return part("VP8X", data);
  };

  test("is recognized by its header", () => {
    expect(detectType(webp(lossy))).toBe("image/webp");
    for (const at of [0, 3, 8, 11]) {
      const other = webp(lossy);
      other[at]! ^= 1;
      expect(detectType(other)).toBeUndefined();
    }
  });

  test("yields its size from its canvas or its pixels, and whether it is lossless", () => {
    const facts = {
      media_type: "image/webp",
      width: 64,
      height: 48,
      isAnimated: false,
      orientation: 1,
      isCmyk: false,
    };
    expect(readWebpStructure(webp(lossy))).toMatchObject({ ...facts, isLossless: false, c2paManifest: undefined });
    expect(readWebpStructure(webp(lossless))).toMatchObject({ ...facts, isLossless: true });
    expect(readWebpStructure(webp(canvas(0, 70_000, 90_000), lossy))).toMatchObject({ width: 70_000, height: 90_000 });
    expect(readWebpStructure(webp(canvas(0, 300, 200), lossless))).toMatchObject({ width: 300, height: 200 });
  });

  test("is animated by its flag or its frames", () => {
    expect(readWebpStructure(webp(canvas(2), lossy)).isAnimated).toBe(true);
    expect(readWebpStructure(webp(canvas(0x3d), lossy)).isAnimated).toBe(false);
    for (const type of ["ANIM", "ANMF"])
      expect(readWebpStructure(webp(canvas(0), part(type, latin1("xx")))).isAnimated).toBe(true);
  });

  test("keeps the chunks of its image, and loses the rest with its flags", () => {
    const profile = part("ICCP", minimalIccProfile(200));
    const whole = webp(canvas(0x30), profile, part("ALPH", latin1("alpha")), lossy);
    expect(stripMetadata(whole, readWebpStructure(whole))).toBe(whole);
    const words = latin1("words of another");
    const others = ["EXIF", "XMP ", "C2PA", "PRIV"].map((type) => part(type, words));
    const dirty = Buffer.concat([webp(canvas(0x3c), profile, lossy, ...others), words]);
    expect(strippedBytes(dirty, readWebpStructure).equals(webp(canvas(0x30), profile, lossy))).toBe(true);
    expect(strippedBytes(Buffer.concat([webp(lossy), words]), readWebpStructure).equals(webp(lossy))).toBe(true);
    expect(strippedBytes(Buffer.concat([webp(lossless), words]), readWebpStructure).equals(webp(lossless))).toBe(true);
    const broken = webp(canvas(0x3c), part("ICCP", words), lossy);
    expect(strippedBytes(broken, readWebpStructure).equals(webp(canvas(0x10), lossy))).toBe(true);
    expect(
      rejectionReason(() =>
        readWebpStructure(webp(canvas(0), part("ICCP", minimalIccProfile(4 * 1024 * 1024 + 2)), lossy)),
      ),
    ).toBe("colour profile too large");
  });

  test("yields its orientation and its first manifest", () => {
    const exif = Buffer.concat([latin1("MM\0*"), Buffer.from([0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])]);
    const [first, second] = [createC2paManifestStore(300), createC2paManifestStore(401)];
    const { orientation, c2paManifest: manifest } = readWebpStructure(
      webp(canvas(8), lossy, part("EXIF", exif), part("C2PA", first), part("C2PA", second)),
    );
    expect([orientation, manifest]).toEqual([6, first]);
  });

  test("can omit the padding at its end", () => {
    const odd = webp(canvas(0), lossy, part("PRIV", latin1("odd")));
    const unpadded = odd.subarray(0, -1);
    unpadded.writeUInt32LE(unpadded.length - 8, 4);
    expect(strippedBytes(unpadded, readWebpStructure).equals(webp(canvas(0), lossy))).toBe(true);
  });

  const cut = webp(lossy);
  cut.writeUInt32LE(cut.length - 7, 4);
  const long = webp(lossy);
  long.writeUInt32LE(1000, 16);
  test.each<[string, string, Buffer]>([
    ["a box larger than the file", "truncated", cut],
    ["a chunk larger than the box", "truncated", long],
    ["half a chunk", "truncated", webp(lossy, latin1("VP8"))],
    ["no pixels", "no pixels", webp(canvas(0))],
    ["no size", "no pixels", webp(part("ALPH", latin1("x")))],
    ["nothing", "no pixels", webp()],
    ["a short canvas", "truncated", webp(part("VP8X", Buffer.alloc(8)), lossy)],
    ["short pixels", "truncated", webp(part("VP8 ", Buffer.alloc(9)))],
    ["short lossless pixels", "truncated", webp(part("VP8L", Buffer.alloc(4)))],
  ])("with %s is damaged: %s", (_, reason, bytes) => {
    expect(rejectionReason(() => readWebpStructure(bytes))).toBe(reason);
  });
});
