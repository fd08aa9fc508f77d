// Images for the tests of tasks: drawn here, sent as bytes, and looked at pixel by pixel when they come back.
import sharp from "sharp";
import { expect } from "vitest";
import type { JobBody, SandboxHarness } from "./sandbox-harness.ts";

export type RawImage = { width: number; height: number; channels: number; data: Buffer };

export const drawSvg = (width: number, height: number, content: string): Promise<Buffer> =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`))
    .removeAlpha()
    .png()
    .toBuffer();

export const circle = { x: 100, y: 150, radius: 55 };
const square = { x: 250, y: 90, side: 90 };

/** A red circle on the left, a blue square on the right, on grey: 400 by 300. */
export const drawShapes = (): Promise<Buffer> =>
  drawSvg(
    400,
    300,
    `<rect width="400" height="300" fill="#b0b4b8"/><circle cx="${circle.x}" cy="${circle.y}" r="${circle.radius}" fill="#d02020"/><rect x="${square.x}" y="${square.y}" width="${square.side}" height="${square.side}" fill="#2040d0"/>`,
  );

/** White inside a circle in the middle of 400 by 300. */
export const drawMask = (): Promise<Buffer> =>
  drawSvg(400, 300, `<rect width="400" height="300"/><circle cx="200" cy="150" r="80" fill="#ffffff"/>`);

export const inlineImage = (image: Buffer) => ({ base64: image.toString("base64"), media_type: "image/png" });

export const decodeRaw = async (image: Buffer): Promise<RawImage> => {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: info.channels, data };
};

export const pixelAt = ({ width, channels, data }: RawImage, x: number, y: number): number[] => [
  ...data.subarray((y * width + x) * channels, (y * width + x + 1) * channels),
];

/** Runs a job to its end and expects it to succeed. */
export const runToSuccess = async (rig: SandboxHarness, fields: Record<string, unknown>): Promise<JobBody> => {
  const { body } = await rig.post({ seed: 5, prompt: undefined, ...fields });
  const job = await rig.waitUntilEnded(body.id);
  expect(job.error).toBeNull();
  return job;
};

export const fetchBytes = async (url: string): Promise<Buffer> => {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};

export const fetchFirstImage = async (rig: SandboxHarness, fields: Record<string, unknown>): Promise<RawImage> => {
  const { outputs } = await runToSuccess(rig, fields);
  const raw = await decodeRaw(await fetchBytes(outputs[0]!.url));
  expect({ width: raw.width, height: raw.height }).toEqual({ width: outputs[0]!.width, height: outputs[0]!.height });
  return raw;
};

/** The share of pixels for which `counts` holds. */
export const pixelShare = (raw: RawImage, counts: (pixel: number[], x: number, y: number) => boolean): number => {
  const { width, height, channels, data } = raw;
  // One list for all pixels: a new one for each would take most of the time of a test.
  const pixel = new Array<number>(channels);
  let count = 0;
  for (let place = 0; place < width * height; place += 1) {
    for (let channel = 0; channel < channels; channel += 1) pixel[channel] = data[place * channels + channel]!;
    if (counts(pixel, place % width, Math.floor(place / width))) count += 1;
  }
  return count / (width * height);
};

/** The share of pixels that are not the same in both images, among those in the place looked at. */
export const changedShare = (
  one: RawImage,
  other: RawImage,
  isLookedAt: (x: number, y: number) => boolean = () => true,
): number => {
  expect([one.width, one.height, one.channels]).toEqual([other.width, other.height, other.channels]);
  return pixelShare(one, (pixel, x, y) => {
    const from = (y * one.width + x) * one.channels;
    return isLookedAt(x, y) && pixel.some((byte, at) => byte !== other.data[from + at]);
  });
};

/** Where a mask is black. */
export const isBlackIn =
  (mask: RawImage) =>
  (x: number, y: number): boolean =>
    mask.data[(y * mask.width + x) * mask.channels] === 0;

export const isRed = ([red = 0, green = 0, blue = 0]: number[]): boolean => red > 130 && green < 90 && blue < 90;
export const inCircle = (x: number, y: number): boolean => Math.hypot(x - circle.x, y - circle.y) <= circle.radius;
export const inSquare = (x: number, y: number): boolean =>
  x >= square.x && y >= square.y && x < square.x + square.side && y < square.y + square.side;
