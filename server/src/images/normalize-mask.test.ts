import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  decodeImage,
  greyValuesFromImage,
  imageFromLetters,
  maskFromGreyValues,
} from "../../test/support/ascii-images.ts";
import { normalizeMask } from "./normalize-mask.ts";

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
  it("keeps greyscale as it is, level by level", async () => {
    const mask = await normalizeMask(await maskFromGreyValues([[0, 1, 128, 254, 255]].concat([[9, 9, 9, 9, 9]])));
    expect(await greyValuesFromImage(mask)).toEqual([
      [0, 1, 128, 254, 255],
      [9, 9, 9, 9, 9],
    ]);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
  });

  it("reads colours by their luminance, green brighter than red and red than blue", async () => {
    const [row] = await greyValuesFromImage(await normalizeMask(await imageFromLetters(["WGRBK", "WGRBK"])));
    expect([row![0], row![4]]).toEqual([255, 0]);
    expect(row).toEqual(row!.toSorted((one, other) => other - one));
    expect(new Set(row).size).toBe(5);
  });

  it("brings sixteen bits down to eight", async () => {
    const deep = await sharp(await maskFromGreyValues([[0, 77, 255]].concat([[0, 77, 255]])))
      .toColourspace("grey16")
      .png()
      .toBuffer();
    expect((await sharp(deep).metadata()).depth).toBe("ushort");
    expect(await greyValuesFromImage(await normalizeMask(deep))).toEqual(Array(2).fill([0, 77, 255]));
  });

  it("reads a palette", async () => {
    const palette = await sharp(await imageFromLetters(["WK", "KW"]))
      .png({ palette: true, colours: 2 })
      .toBuffer();
    expect(await greyValuesFromImage(await normalizeMask(palette))).toEqual([
      [255, 0],
      [0, 255],
    ]);
  });

  it("keeps the soft values of a JPEG and turns nothing around", async () => {
    const jpeg = await sharp(await imageFromLetters(["WK", "KW"]))
      .jpeg({ quality: 60 })
      .toBuffer();
    const mask = await normalizeMask(jpeg);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
    const { at } = await decodeImage(mask);
    expect([at(3, 3)[0]! > 240, at(12, 3)[0]! < 15]).toEqual([true, true]);
  });

  it("reads white strokes on nothing as what changes", async () => {
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

  it("does not take an alpha channel without a hole for a mask of holes", async () => {
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

describe("masks that mark by a hole", () => {
  it("reads the hole in one even colour as what changes", async () => {
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

  it("reads the hole in black as what changes, whatever colour is hidden in it", async () => {
    expect(
      await levels(
        await rgba([
          [0, 0, 0, 255],
          [255, 255, 255, 0],
        ]),
      ),
    ).toEqual([0, 255]);
  });

  it("reads the hole in an image as what changes", async () => {
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

it("gives back the very same bytes when done twice", async () => {
  const once = await normalizeMask(await imageFromLetters(["RW.", "hKG"]));
  expect(await normalizeMask(once)).toBe(once);
});

it("tells a damaged mask from a fault of ours", async () => {
  const whole = await maskFromGreyValues([[0, 255]].concat([[255, 0]]));
  await expect(normalizeMask(whole.subarray(0, 40))).rejects.toMatchObject({ code: "image_undecodable" });
});
