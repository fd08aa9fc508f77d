import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  createJob,
  decodeImage,
  greyValuesFromImage,
  imageFromLetters,
  lettersFromImage,
  maskFromGreyValues,
  outputBytes,
} from "../../../test/support/ascii-images.ts";
import { runPixelTask } from "../../../test/support/isolated-pixels.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { local } from "../local.ts";
import type { JobDone, ProviderContext } from "../provider.ts";

const offer = local.offers.find(({ task }) => task === "image.cut")!;
const cut = async (image: Uint8Array, masks: Uint8Array[], options: JsonObject = {}) =>
  (await local.submit(createJob("image.cut", { images: [image], masks, options }), offer, {
    runPixelTask,
  } as ProviderContext<unknown>)) as JobDone;
const cutOut = async (image: Uint8Array, mask: Uint8Array, options: JsonObject = {}) =>
  outputBytes(await cut(image, [mask], options))[0]!;

const flag = await imageFromLetters(["RGB", "RGB"]);
const middle = await maskFromGreyValues([
  [0, 255, 0],
  [0, 255, 0],
]);

describe("extract", () => {
  it("keeps the size and what the mask marks; all other pixels are empty", async () => {
    const layer = await cutOut(flag, middle);
    expect(await lettersFromImage(layer)).toEqual([".G.", ".G."]);
    expect(await sharp(layer).metadata()).toMatchObject({ format: "png", width: 24, height: 16, hasAlpha: true });
  });

  it('accepts the mode "content" as another name', async () => {
    expect(await lettersFromImage(await cutOut(flag, middle, { mode: "content" }))).toEqual([".G.", ".G."]);
  });

  it("keeps everything but the marked part if inverted", async () => {
    expect(await lettersFromImage(await cutOut(flag, middle, { invert: true }))).toEqual(["R.B", "R.B"]);
  });

  it("has a soft edge in the colour of the image where the mask is grey", async () => {
    const { at } = await decodeImage(
      await cutOut(flag, await maskFromGreyValues([[1, 128, 254]].concat([[1, 128, 254]]))),
    );
    expect([at(4, 4), at(12, 4), at(20, 4)]).toEqual([
      [255, 0, 0, 1],
      [0, 255, 0, 128],
      [0, 0, 255, 254],
    ]);
  });

  it("creates a layer for each mask, in order, each with the bounding box of its content", async () => {
    const corner = await maskFromGreyValues([
      [0, 0, 0],
      [0, 0, 255],
    ]);
    const done = await cut(flag, [middle, corner]);
    expect(await Promise.all(outputBytes(done).map((bytes) => lettersFromImage(bytes)))).toEqual([
      [".G.", ".G."],
      ["...", "..B"],
    ]);
    expect(done.outputs.map(({ box }) => box)).toEqual([
      { x: 8, y: 0, width: 8, height: 16 },
      { x: 16, y: 8, width: 8, height: 8 },
    ]);
  });

  it("has no box for an empty mask, and ignores faint noise", async () => {
    const done = await cut(flag, [await maskFromGreyValues([[3, 0, 3]].concat([[0, 7, 0]]))]);
    expect(done.outputs[0]!.box).toBeUndefined();
  });
});

describe("alpha of the image", () => {
  const glass = "orh";

  it("is kept and multiplied by the mask", async () => {
    const source = await imageFromLetters([glass, glass]);
    const { at } = await decodeImage(
      await cutOut(source, await maskFromGreyValues([[255, 128, 255]].concat([[255, 128, 255]]))),
    );
    expect([at(4, 4), at(12, 4), at(20, 4)]).toEqual([
      [12, 34, 56, 77],
      [255, 0, 0, 64],
      [0, 0, 0, 0],
    ]);
  });

  it("is ignored with preserve_alpha false: the mask alone decides", async () => {
    const source = await imageFromLetters([glass, glass]);
    const { at } = await decodeImage(
      await cutOut(source, await maskFromGreyValues([[255, 128, 255]].concat([[0, 0, 0]])), { preserve_alpha: false }),
    );
    expect([at(4, 4), at(12, 4), at(20, 4), at(4, 12)]).toEqual([
      [12, 34, 56, 255],
      [255, 0, 0, 128],
      [10, 20, 30, 255],
      [0, 0, 0, 0],
    ]);
  });
});

describe("a mask", () => {
  it("is returned in black and white in the size of the image, with its box", async () => {
    const small = await maskFromGreyValues(
      [
        [127, 255, 128],
        [127, 255, 128],
      ],
      4,
    );
    const done = await cut(flag, [small], { mode: "mask" });
    const bytes = outputBytes(done)[0]!;
    expect(await greyValuesFromImage(bytes)).toEqual([
      [0, 255, 255],
      [0, 255, 255],
    ]);
    expect(await sharp(bytes).metadata()).toMatchObject({ channels: 1, depth: "uchar", width: 24, height: 16 });
    expect(done.outputs[0]!.box).toEqual({ x: 8, y: 0, width: 16, height: 16 });
  });

  it("is the exact complement of itself if inverted", async () => {
    const soft = await maskFromGreyValues([[127, 128, 255]].concat([[0, 9, 200]]));
    expect(await greyValuesFromImage(await cutOut(flag, soft, { mode: "mask" }))).toEqual(
      [[0, 255, 255]].concat([[0, 0, 255]]),
    );
    expect(await greyValuesFromImage(await cutOut(flag, soft, { mode: "mask", invert: true }))).toEqual(
      [[255, 0, 0]].concat([[255, 255, 0]]),
    );
  });

  it("is inverted on request", async () => {
    expect(await greyValuesFromImage(await cutOut(flag, middle, { mode: "mask", invert: true }))).toEqual([
      [255, 0, 255],
      [255, 0, 255],
    ]);
  });
});

it("of another size and the same aspect ratio is scaled with hard edges", async () => {
  const large = await maskFromGreyValues(
    [
      [0, 255, 0],
      [0, 255, 0],
    ],
    64,
  );
  expect(await lettersFromImage(await cutOut(flag, large))).toEqual([".G.", ".G."]);
});

it("of another aspect ratio is refused", async () => {
  await expect(cutOut(flag, await maskFromGreyValues([[255, 0]]))).rejects.toMatchObject({
    code: "mask_mismatch",
    cause: { kind: "refused" },
    details: { mask: { width: 16, height: 8 }, image: { width: 24, height: 16 } },
  });
});
