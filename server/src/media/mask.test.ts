import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { decode, greyMask, greys, picture } from "../../test/golden/pictures.ts";
import { toMask } from "./mask.ts";

const isCanonical = { format: "png", channels: 1, depth: "uchar", space: "b-w", hasAlpha: false };
const rgba = (pixels: number[][]) =>
  sharp(Buffer.from(pixels.flatMap((pixel) => Array(256).fill(pixel).flat())), {
    raw: { width: 16, height: 16 * pixels.length, channels: 4 },
  })
    .png()
    .toBuffer();
const levels = async (bytes: Uint8Array) => (await greys(await toMask(bytes), 16)).map(([value]) => value);

describe("masks that mark by brightness", () => {
  it("keeps greyscale as it is, level by level", async () => {
    const mask = await toMask(await greyMask([[0, 1, 128, 254, 255]].concat([[9, 9, 9, 9, 9]])));
    expect(await greys(mask)).toEqual([
      [0, 1, 128, 254, 255],
      [9, 9, 9, 9, 9],
    ]);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
  });

  it("reads colours by their luminance, green brighter than red and red than blue", async () => {
    const [row] = await greys(await toMask(await picture(["WGRBK", "WGRBK"])));
    expect([row![0], row![4]]).toEqual([255, 0]);
    expect(row).toEqual(row!.toSorted((one, other) => other - one));
    expect(new Set(row).size).toBe(5);
  });

  it("brings sixteen bits down to eight", async () => {
    const deep = await sharp(await greyMask([[0, 77, 255]].concat([[0, 77, 255]])))
      .toColourspace("grey16")
      .png()
      .toBuffer();
    expect((await sharp(deep).metadata()).depth).toBe("ushort");
    expect(await greys(await toMask(deep))).toEqual(Array(2).fill([0, 77, 255]));
  });

  it("reads a palette", async () => {
    const palette = await sharp(await picture(["WK", "KW"]))
      .png({ palette: true, colours: 2 })
      .toBuffer();
    expect(await greys(await toMask(palette))).toEqual([
      [255, 0],
      [0, 255],
    ]);
  });

  it("keeps the soft values of a JPEG and turns nothing around", async () => {
    const jpeg = await sharp(await picture(["WK", "KW"]))
      .jpeg({ quality: 60 })
      .toBuffer();
    const mask = await toMask(jpeg);
    expect(await sharp(mask).metadata()).toMatchObject(isCanonical);
    const { at } = await decode(mask);
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

  it("reads the hole in a picture as what changes", async () => {
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
  const once = await toMask(await picture(["RW.", "hKG"]));
  expect(await toMask(once)).toBe(once);
});

it("tells a damaged mask from a fault of ours", async () => {
  const whole = await greyMask([[0, 255]].concat([[255, 0]]));
  await expect(toMask(whole.subarray(0, 40))).rejects.toMatchObject({ code: "image_undecodable" });
});
