import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  decodeImage,
  greyValuesFromImage,
  imageFromLetters,
  maskFromGreyValues,
} from "../../../../test/support/ascii-images.ts";
import { maskFromTransparency, normalizeMask } from "./normalize-mask.ts";

const isCanonical = { format: "png", channels: 1, depth: "uchar", space: "b-w", hasAlpha: false };
const rgba = (pixels: number[][]) =>
  sharp(Buffer.from(pixels.flatMap((pixel) => Array(256).fill(pixel).flat())), {
    raw: { width: 16, height: 16 * pixels.length, channels: 4 },
  })
    .png()
    .toBuffer();
const levels = async (bytes: Uint8Array) =>
  (await greyValuesFromImage(await normalizeMask(bytes), 16)).map(([value]) => value);

describe("masks that mark by brightness", () => {
  it("keep greyscale values", async () => {
    const mask = await normalizeMask(await maskFromGreyValues([[0, 1, 128, 254, 255]].concat([[9, 9, 9, 9, 9]])));
    expect(await greyValuesFromImage(mask)).toEqual([
      [0, 1, 128, 254, 255],
      [9, 9, 9, 9, 9],
    ]);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
  });

  it("use the luminance of colours", async () => {
    const [row] = await greyValuesFromImage(await normalizeMask(await imageFromLetters(["WGRBK", "WGRBK"])));
    expect([row![0], row![4]]).toEqual([255, 0]);
    expect(row).toEqual(row!.toSorted((one, other) => other - one));
    expect(new Set(row).size).toBe(5);
  });

  it("are reduced from 16 to 8 bits", async () => {
    const deep = await sharp(await maskFromGreyValues([[0, 77, 255]].concat([[0, 77, 255]])))
      .toColourspace("grey16")
      .png()
      .toBuffer();
    expect((await sharp(deep).metadata()).depth).toBe("ushort");
    expect(await greyValuesFromImage(await normalizeMask(deep))).toEqual(Array(2).fill([0, 77, 255]));
  });

  it("can have a palette", async () => {
    const palette = await sharp(await imageFromLetters(["WK", "KW"]))
      .png({ palette: true, colours: 2 })
      .toBuffer();
    expect(await greyValuesFromImage(await normalizeMask(palette))).toEqual([
      [255, 0],
      [0, 255],
    ]);
  });

  it("keep the intermediate values of a JPEG, not inverted", async () => {
    const jpeg = await sharp(await imageFromLetters(["WK", "KW"]))
      .jpeg({ quality: 60 })
      .toBuffer();
    const mask = await normalizeMask(jpeg);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
    const { at } = await decodeImage(mask);
    expect([at(3, 3)[0]! > 240, at(12, 3)[0]! < 15]).toEqual([true, true]);
  });

  it("mark white strokes on a transparent background", async () => {
    expect(
      await levels(
        await rgba([
          [255, 255, 255, 255],
          [0, 0, 0, 0],
          [255, 255, 255, 128],
        ]),
      ),
    ).toEqual([255, 0, 128]);
  });

  it("are not read by an alpha channel without transparent pixels", async () => {
    expect(
      await levels(
        await rgba([
          [255, 255, 255, 255],
          [0, 0, 0, 255],
        ]),
      ),
    ).toEqual([255, 0]);
    expect(
      await levels(
        await rgba([
          [0, 0, 0, 255],
          [0, 0, 0, 255],
        ]),
      ),
    ).toEqual([0, 0]);
  });
});

describe("masks that mark by transparency", () => {
  it("mark the transparent area in one colour", async () => {
    expect(
      await levels(
        await rgba([
          [0, 0, 0, 255],
          [0, 0, 0, 0],
          [0, 0, 0, 128],
        ]),
      ),
    ).toEqual([0, 255, 127]);
    expect(
      await levels(
        await rgba([
          [255, 255, 255, 255],
          [255, 255, 255, 0],
        ]),
      ),
    ).toEqual([0, 255]);
  });

  it("mark the transparent area in black, whatever colour is hidden in it", async () => {
    expect(
      await levels(
        await rgba([
          [0, 0, 0, 255],
          [255, 255, 255, 0],
        ]),
      ),
    ).toEqual([0, 255]);
  });

  it("mark the transparent area of an image", async () => {
    expect(
      await levels(
        await rgba([
          [200, 40, 40, 255],
          [240, 240, 240, 255],
          [0, 0, 0, 0],
        ]),
      ),
    ).toEqual([0, 0, 255]);
  });
});

it("normalizing twice gives identical bytes", async () => {
  const once = await normalizeMask(await imageFromLetters(["RW.", "hKG"]));
  expect(await normalizeMask(once)).toBe(once);
});

it("a damaged mask is distinguished from an internal error", async () => {
  const whole = await maskFromGreyValues([[0, 255]].concat([[255, 0]]));
  await expect(normalizeMask(whole.subarray(0, 40))).rejects.toMatchObject({ code: "image_undecodable" });
});

describe("masks of another size", () => {
  it("are scaled with hard edges if they are black and white", async () => {
    const small = await maskFromGreyValues([
      [0, 255],
      [255, 0],
    ]);
    const large = await normalizeMask(small, { width: 72, height: 72 });
    expect(await greyValuesFromImage(large, 36)).toEqual([
      [0, 255],
      [255, 0],
    ]);
    expect(new Set((await greyValuesFromImage(large, 1)).flat())).toEqual(new Set([0, 255]));
    expect(await sharp(large).metadata()).toMatchObject({ ...isCanonical, width: 72, height: 72 });
    expect(await greyValuesFromImage(await normalizeMask(large, { width: 16, height: 16 }))).toEqual([
      [0, 255],
      [255, 0],
    ]);
  });

  it("are scaled without steps if they are soft, and stay black and white at their ends", async () => {
    const soft = await maskFromGreyValues(Array(8).fill([0, 0, 64, 128, 192, 255, 255]), 4);
    const [row] = await greyValuesFromImage(await normalizeMask(soft, { width: 140, height: 160 }), 1);
    expect([row![0], row!.at(-1)]).toEqual([0, 255]);
    expect(row).toEqual(row!.toSorted((one, other) => one - other));
    expect(new Set(row).size).toBeGreaterThan(12);
  });

  it("that mark by transparency are converted, then scaled", async () => {
    const hole = await rgba([
      [9, 9, 9, 255],
      [9, 9, 9, 0],
    ]);
    const mask = await normalizeMask(hole, { width: 32, height: 64 });
    expect(await greyValuesFromImage(mask, 32)).toEqual([[0], [255]]);
  });

  it("are unchanged if they already have the wanted size", async () => {
    const mask = await normalizeMask(await imageFromLetters(["WK", "KW"]));
    expect(await normalizeMask(mask, { width: 16, height: 16 })).toBe(mask);
  });
});

describe("masks whose transparent pixels are the marks", () => {
  const marks = async (pixels: number[][]) => {
    const mask = await maskFromTransparency(await rgba(pixels), 1);
    return mask && (await greyValuesFromImage(mask, 16)).map(([value]) => value);
  };

  it("mark by alpha alone, whatever the colors are", async () => {
    const [keep, hole] = [
      [255, 255, 255, 255],
      [0, 0, 0, 0],
    ];
    // Normalized as a mask of unknown kind, white on a transparent background would be the mark.
    expect(await levels(await rgba([keep!, hole!]))).toEqual([255, 0]);
    expect(await marks([keep!, hole!])).toEqual([0, 255]);
    expect(await marks([[9, 200, 30, 255], hole!, [255, 255, 255, 0], [0, 0, 0, 64]])).toEqual([0, 255, 255, 191]);
  });

  it("are refused without a transparent pixel", async () => {
    expect(await marks([[0, 0, 0, 255]])).toBeUndefined();
    expect(await maskFromTransparency(await maskFromGreyValues([[0, 255]]), 1)).toBeUndefined();
  });
});
