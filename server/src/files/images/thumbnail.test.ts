import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, it } from "vitest";
import { noiseImage, validImageCases } from "../../../test/corpora/valid-images.ts";
import { decodeImage, imageFromLetters } from "../../../test/support/ascii-images.ts";
import { createDecoderPool, type DecoderPool } from "./decoder-pool.ts";
import { joinParts } from "./pixel-tasks.ts";
import { createThumbnailMaker } from "./thumbnail.ts";
import { createVideoFrames, type VideoFrames } from "./video-frames.ts";

const decoders = createDecoderPool({ count: 1, megabytes: 1024, seconds: 60 });
const videoFrames = createVideoFrames({ decoders, count: 1, megabytes: 512, seconds: 60 });
const maker = createThumbnailMaker({ decoders, videoFrames, isEnabled: true });
const make = async (bytes: Uint8Array) => (await maker.make(bytes))!;
afterAll(decoders.close);

const noFrames: VideoFrames = { extract: () => Promise.reject(new Error("this test has no video")) };

describe("thumbnails", () => {
  it("have 320 and 640 pixels on the longer side, and keep the shape of the image", async () => {
    const wide = await make(await noiseImage(1600, 800).jpeg().toBuffer());
    expect(wide.small).toMatchObject({ media_type: "image/webp", width: 320, height: 160 });
    expect(wide.large).toMatchObject({ media_type: "image/webp", width: 640, height: 320 });
    const high = await make(await noiseImage(500, 1000).png().toBuffer());
    expect([high.small.width, high.small.height, high.large.width, high.large.height]).toEqual([160, 320, 320, 640]);
    expect(await sharp(wide.large.bytes).metadata()).toMatchObject({ format: "webp", width: 640, height: 320 });
  });

  it("are never larger than the image", async () => {
    const { small, large } = await make(await noiseImage(400, 100).png().toBuffer());
    expect([small.width, small.height, large.width, large.height]).toEqual([320, 80, 400, 100]);
  });

  it.each(validImageCases)("are made of every kind of image: %s", async (_, bytes) => {
    const { small, thumbhash } = await make(bytes);
    expect([small.width, small.height]).toEqual([64, 48]);
    expect(Buffer.from(thumbhash, "base64").byteLength).toBeGreaterThanOrEqual(5);
  });

  it("have at most 40 kB, even of noise", async () => {
    const { small, large } = await make(await noiseImage(1024, 1024).png().toBuffer());
    expect(Math.max(small.bytes.byteLength, large.bytes.byteLength)).toBeLessThanOrEqual(40_000);
  });

  it("keep transparency", async () => {
    const { small } = await make(await imageFromLetters([".R", "R."], 32));
    const { at } = await decodeImage(small.bytes);
    expect([at(8, 8)[3], at(40, 8)[3]]).toEqual([0, 255]);
  });

  it("are upright and have no metadata", async () => {
    const sideways = await sharp(await imageFromLetters(["RRRR", "BBBB"], 16))
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 100 })
      .toBuffer();
    const { small } = await make(sideways);
    expect([small.width, small.height]).toEqual([32, 64]);
    const { at } = await decodeImage(small.bytes);
    // Turned clockwise, what was on top is on the right.
    expect([at(26, 32)[0]! > 200, at(6, 32)[2]! > 200]).toEqual([true, true]);
    expect((await sharp(small.bytes).metadata()).exif).toBe(undefined);
  });

  it("of a video show its first frame", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gesso-thumbnails-"));
    const path = join(folder, "video.mp4");
    const colours = "color=red:size=960x480:rate=5:duration=1[a];color=blue:size=960x480:rate=5:duration=1[b]";
    const filter = `${colours};[a][b]concat=n=2:v=1[out]`;
    const output = ["-map", "[out]", "-pix_fmt", "yuv420p", path];
    execFileSync("ffmpeg", ["-loglevel", "error", "-y", "-filter_complex", filter, ...output]);
    const { small, large } = await make(readFileSync(path));
    rmSync(folder, { recursive: true });
    expect([small.width, small.height, large.width]).toEqual([320, 160, 640]);
    const [red, , blue] = (await decodeImage(small.bytes)).at(100, 100);
    expect([red! > 200, blue! < 60]).toEqual([true, true]);
  });

  it("are not made if they are switched off", async () => {
    const perform = () => Promise.reject(new Error("was decoded"));
    const off = createThumbnailMaker({ decoders: { perform }, videoFrames: noFrames, isEnabled: false });
    expect(await off.make(await noiseImage(64, 64).png().toBuffer())).toBe(undefined);
  });

  it("of a damaged image are refused, and the next image has its own", async () => {
    const whole = await noiseImage(200, 200).jpeg().toBuffer();
    await expect(make(whole.subarray(0, 900))).rejects.toMatchObject({ code: "image_undecodable" });
    expect((await make(whole)).small.width).toBe(200);
  });

  it("of a taken over process are refused if they are not small WebP files", async () => {
    const webp = await noiseImage(300, 300).webp().toBuffer();
    const makeFrom = (header: object, ...parts: Uint8Array[]) => {
      const perform: DecoderPool["perform"] = async () => joinParts({ ...header }, parts);
      return createThumbnailMaker({ decoders: { perform }, videoFrames: noFrames, isEnabled: true }).make(webp);
    };
    const thumbhash = "3OcRJYB4d3h/iIeHeEh3eIhw+j3A";
    expect((await makeFrom({ thumbhash }, webp, webp))?.small.width).toBe(300);
    const small = await noiseImage(20, 20).png().toBuffer();
    const wide = await noiseImage(330, 20).webp().toBuffer();
    const replies: Parameters<typeof makeFrom>[] = [
      [{ thumbhash }, webp],
      [{ thumbhash }, wide, webp],
      [{ thumbhash }, small, webp],
      [{ thumbhash: "<script>" }, webp, webp],
      [{}, webp, webp],
      [{ error: "crashed" }, webp, webp],
    ];
    for (const reply of replies) await expect(makeFrom(...reply)).rejects.toMatchObject({ code: "image_undecodable" });
  });
});

it("the thumbhash shows the average colour of the image, and its transparency", async () => {
  const { thumbhash } = await make(await imageFromLetters(["RR", "RR"], 32));
  const [first, second, third] = Buffer.from(thumbhash, "base64");
  const luminance = (first! & 63) / 63;
  expect([luminance > 0.25 && luminance < 0.42, third! >> 7, second === undefined]).toEqual([true, 0, false]);
  const seen = await make(await imageFromLetters([".R", "R."], 32));
  expect(Buffer.from(seen.thumbhash, "base64")[2]! >> 7).toBe(1);
});
