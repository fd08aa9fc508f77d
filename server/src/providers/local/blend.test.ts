import sharp from "sharp";
import { expect, it } from "vitest";
import {
  createJob,
  decodeImage,
  imageFromLetters,
  lettersFromImage,
  maskFromGreyValues,
  outputBytes,
} from "../../../test/support/ascii-images.ts";
import { runPixelTask } from "../../../test/support/isolated-pixels.ts";
import { local } from "../local.ts";
import type { JobDone, ProviderContext } from "../provider.ts";

const offer = local.offers.find(({ task }) => task === "image.blend")!;
const blended = async (original: Uint8Array, edited: Uint8Array, mask: Uint8Array) => {
  const job = createJob("image.blend", { images: [original, edited], mask });
  return outputBytes((await local.submit(job, offer, { runPixelTask } as ProviderContext<unknown>)) as JobDone)[0]!;
};

const noise = (width: number, height: number, channels: 3 | 4, seed: number) =>
  Buffer.from({ length: width * height * channels } as ArrayLike<number>).map(
    (_, at) => (Math.imul(at + seed, 2_654_435_761) >>> 16) & 255,
  );

it("changes white areas and keeps black ones", async () => {
  const mask = await maskFromGreyValues([
    [0, 255],
    [255, 0],
  ]);
  expect(
    await lettersFromImage(
      await blended(await imageFromLetters(["RR", "RR"]), await imageFromLetters(["BB", "BB"]), mask),
    ),
  ).toEqual(["RB", "BR"]);
});

it("leaves every pixel outside the mask identical to the original, with alpha and hidden colours", async () => {
  const [width, height] = [97, 61];
  const raw = noise(width, height, 4, 7);
  const original = await sharp(raw, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  const edited = await sharp(noise(width, height, 3, 99), { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  const grey = noise(width, height, 3, 3)
    .subarray(0, width * height)
    .map((value) => (value < 128 ? 0 : value));
  const mask = await sharp(grey, { raw: { width, height, channels: 1 } })
    .toColourspace("b-w")
    .png()
    .toBuffer();
  const { data } = await decodeImage(await blended(original, edited, mask));
  const black = [...grey.keys()].filter((pixel) => grey[pixel] === 0);
  expect(black.length).toBeGreaterThan(1000);
  const same = black.every((pixel) =>
    data.subarray(pixel * 4, pixel * 4 + 4).equals(raw.subarray(pixel * 4, pixel * 4 + 4)),
  );
  expect(same).toBe(true);
});

it("keeps the decoded pixels of a JPEG outside the mask", async () => {
  const [width, height] = [64, 64];
  const original = await sharp(noise(width, height, 3, 5), { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
  const mask = await maskFromGreyValues(
    [
      [0, 255],
      [0, 0],
    ],
    32,
  );
  const { data } = await decodeImage(await blended(original, await imageFromLetters(["BB", "BB"], 32), mask));
  const before = await decodeImage(original);
  expect(data.subarray(64 * 32 * 4).equals(before.data.subarray(64 * 32 * 4))).toBe(true);
});

it("blends in proportion where the mask is grey", async () => {
  const mask = await maskFromGreyValues([
    [51, 204],
    [0, 255],
  ]);
  const { at } = await decodeImage(
    await blended(await imageFromLetters(["RR", "RR"]), await imageFromLetters(["BB", "BB"]), mask),
  );
  expect([at(4, 4), at(12, 4)]).toEqual([
    [204, 0, 51, 255],
    [51, 0, 204, 255],
  ]);
});

it("uses the transparency of the edited image inside the mask, without hidden colours in soft edges", async () => {
  const mask = await maskFromGreyValues([
    [255, 128],
    [0, 0],
  ]);
  const { at } = await decodeImage(
    await blended(await imageFromLetters(["RR", "RR"]), await imageFromLetters(["hh", "hh"]), mask),
  );
  expect([at(4, 4)[3], at(12, 4), at(4, 12)]).toEqual([0, [255, 0, 0, 127], [255, 0, 0, 255]]);
});

it("blends each edited image with the original separately, in order", async () => {
  const mask = await maskFromGreyValues([
    [0, 255],
    [0, 255],
  ]);
  const [red, blue, green] = [
    await imageFromLetters(["RR", "RR"]),
    await imageFromLetters(["BB", "BB"]),
    await imageFromLetters(["GG", "GG"]),
  ];
  const job = createJob("image.blend", { images: [red, blue, green], mask });
  const made = outputBytes((await local.submit(job, offer, { runPixelTask } as ProviderContext<unknown>)) as JobDone);
  expect(await Promise.all(made.map((bytes) => lettersFromImage(bytes)))).toEqual([
    ["RB", "RB"],
    ["RG", "RG"],
  ]);
});

it("scales an edited image of another size to the original", async () => {
  const mask = await maskFromGreyValues([
    [0, 255],
    [0, 255],
  ]);
  const result = await blended(await imageFromLetters(["RR", "RR"]), await imageFromLetters(["GG", "GG"], 32), mask);
  expect(await lettersFromImage(result)).toEqual(["RG", "RG"]);
  expect(await sharp(result).metadata()).toMatchObject({ width: 16, height: 16, hasAlpha: false, format: "png" });
});

it("reports both sizes of a mask with another aspect ratio", async () => {
  const [red, mask] = [await imageFromLetters(["RR", "RR"]), await maskFromGreyValues([[255, 0]])];
  const thrown = await blended(red, red, mask).catch((error) => error);
  expect(thrown.body().details).toEqual({
    retryable: false,
    mask: { width: 16, height: 8 },
    image: { width: 16, height: 16 },
  });
});
