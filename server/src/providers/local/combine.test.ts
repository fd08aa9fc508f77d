import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  createJob,
  decodeImage,
  imageFromLetters,
  lettersFromImage,
  outputBytes,
} from "../../../test/support/ascii-images.ts";
import { runPixelTask } from "../../../test/support/isolated-pixels.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { local } from "../local.ts";
import type { JobDone, ProviderContext } from "../provider.ts";

const context = { runPixelTask } as ProviderContext<unknown>;

const combined = async (images: Uint8Array[], options: JsonObject = {}) => {
  const done = await local.submit(createJob("image.combine", { images, options }), local.offers[0]!, context);
  return outputBytes(done as JobDone)[0]!;
};

const red = await imageFromLetters(["RR", "RR"]);
const tall = await imageFromLetters(["G", "G", "G", "G"]);
const wide = await imageFromLetters(["BBBB", "BBBB"]);

describe("side by side", () => {
  it("keeps the sizes, from left to right, centred vertically", async () => {
    expect(await lettersFromImage(await combined([red, tall, wide]))).toEqual([
      "..G....",
      "RRGBBBB",
      "RRGBBBB",
      "..G....",
    ]);
  });

  it("puts the gap between images and none around them", async () => {
    expect(await lettersFromImage(await combined([red, red], { gap: 8 }))).toEqual(["RR.RR", "RR.RR"]);
  });

  it("puts the odd pixel at the bottom", async () => {
    const high = await sharp({ create: { width: 16, height: 17, channels: 3, background: "#0000ff" } })
      .png()
      .toBuffer();
    const { at, height } = await decodeImage(await combined([red, high]));
    expect(height).toBe(17);
    expect([at(0, 0), at(0, 15), at(0, 16)]).toEqual([
      [255, 0, 0, 255],
      [255, 0, 0, 255],
      [0, 0, 0, 0],
    ]);
  });

  it("copies half-transparent pixels exactly", async () => {
    const glass = await imageFromLetters(["or", "br"]);
    expect(await lettersFromImage(await combined([glass, red]))).toEqual(["orRR", "brRR"]);
  });
});

describe("the other modes", () => {
  it("stack from top to bottom, centred horizontally", async () => {
    expect(await lettersFromImage(await combined([red, wide], { mode: "stacked" }))).toEqual([
      ".RR.",
      ".RR.",
      "BBBB",
      "BBBB",
    ]);
  });

  it("fill a grid row by row; columns and rows are as large as their largest image", async () => {
    const high = await imageFromLetters(["GG", "GG", "GG", "GG"]);
    const grid = await combined([red, high, wide, red, red], { mode: "grid", gap: 8, background: "#ffffff" });
    expect(await lettersFromImage(grid)).toEqual([
      "WWWGGWWWWW",
      "RRWGGWBBBB",
      "RRWGGWBBBB",
      "WWWGGWWWWW",
      "WWWWWWWWWW",
      "RRWRRWWWWW",
      "RRWRRWWWWW",
    ]);
  });

  it("overlay images around one centre, the first at the bottom", async () => {
    expect(await lettersFromImage(await combined([wide, red], { mode: "overlay" }))).toEqual(["BRRB", "BRRB"]);
  });

  it("blend the upper images by their opacity", async () => {
    const { at } = await decodeImage(await combined([wide, red], { mode: "overlay", opacity: 0.25 }));
    expect([at(0, 0), at(16, 8)]).toEqual([
      [0, 0, 255, 255],
      [64, 0, 191, 255],
    ]);
  });

  it("leave the lowest image unchanged if the upper ones are invisible", async () => {
    const overlaid = await combined([wide, red], { mode: "overlay", opacity: 0 });
    expect(await lettersFromImage(overlaid)).toEqual(["BBBB", "BBBB"]);
  });

  it("compose alpha over alpha", async () => {
    const overlaid = await combined([await imageFromLetters(["rr", "rr"]), await imageFromLetters(["bb", "bb"])], {
      mode: "overlay",
    });
    // 128 over 128: alpha 1 - (127/255)², two thirds of what is seen is the upper colour.
    expect((await decodeImage(overlaid)).at(4, 4)).toEqual([85, 0, 170, 192]);
  });
});

describe("background and format", () => {
  it("the background is transparent by default, and a colour if one is given", async () => {
    const [plain, green] = [await combined([red, tall]), await combined([red, tall], { background: "#00FF00" })];
    expect([(await lettersFromImage(plain))[0], (await lettersFromImage(green))[0]]).toEqual(["..G", "GGG"]);
    expect((await sharp(green).metadata()).hasAlpha).toBe(false);
  });

  it("the background shows through transparent pixels", async () => {
    const glass = await imageFromLetters(["rr", "rr"]);
    const { at } = await decodeImage(await combined([glass, red], { background: "#ffffff" }));
    expect(at(0, 0)).toEqual([255, 127, 127, 255]);
  });

  it("an opaque result has no alpha channel", async () => {
    expect((await sharp(await combined([red, red])).metadata()).hasAlpha).toBe(false);
    expect((await sharp(await combined([red, red], { gap: 1 })).metadata()).hasAlpha).toBe(true);
  });

  it("a JPEG has a white background, because it cannot be transparent", async () => {
    const jpeg = await combined([red, tall], { output_format: "jpeg", background: "transparent" });
    expect((await sharp(jpeg).metadata()).format).toBe("jpeg");
    expect((await decodeImage(jpeg)).at(2, 2)).toEqual([255, 255, 255, 255]);
  });

  it("a WebP keeps its transparency", async () => {
    const webp = await combined([red, tall], { output_format: "webp" });
    expect((await sharp(webp).metadata()).format).toBe("webp");
    expect((await decodeImage(webp)).at(2, 2)[3]).toBe(0);
  });
});

it("greyscale, palette, 16-bit and JPEG sources are accepted", async () => {
  const plain = sharp({ create: { width: 16, height: 16, channels: 3, background: "#808080" } });
  const grey = await plain.clone().toColourspace("b-w").png().toBuffer();
  const palette = await plain.clone().png({ palette: true }).toBuffer();
  const deep = await plain.clone().toColourspace("rgb16").png().toBuffer();
  const jpeg = await plain.clone().jpeg().toBuffer();
  const { at } = await decodeImage(await combined([grey, palette, deep, jpeg]));
  for (const x of [8, 24, 40, 56]) expect(at(x, 8)).toEqual([128, 128, 128, 255]);
});

it("a result that would exceed the largest image size is scaled down", async () => {
  const long = await sharp({ create: { width: 9000, height: 200, channels: 3, background: "#ff0000" } })
    .png()
    .toBuffer();
  const { width, height, at } = await decodeImage(await combined([long, long], { gap: 512 }));
  expect(width).toBeLessThanOrEqual(16_384);
  expect(width).toBeGreaterThan(16_300);
  expect(height).toBe(Math.floor((200 * 16_384) / 18_512));
  expect(at(8191, 10)[3]).toBe(0);
});
