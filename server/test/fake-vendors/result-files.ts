// Results of fake vendors: real images and a real video, derived from the request so that a test can tell them apart.
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";

export type Format = "png" | "jpeg" | "webp";

/** A colour derived from the text: the same prompt and seed give the same image. */
export function colourFromText(text: string): { r: number; g: number; b: number } {
  let hash = 2166136261;
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0)!, 16777619) >>> 0;
  return { r: hash & 255, g: (hash >> 8) & 255, b: (hash >> 16) & 255 };
}

const drawn = new Map<string, Promise<Buffer>>();

/** A plain image of this size in the colour of its prompt. */
export function drawTestImage(text: string, width = 64, height = 64, format: Format = "png"): Promise<Buffer> {
  const key = `${text} ${width} ${height} ${format}`;
  const image =
    drawn.get(key) ??
    sharp({ create: { width, height, channels: 3, background: colourFromText(text) } })
      .toFormat(format)
      .toBuffer();
  if (drawn.size < 500) drawn.set(key, image);
  return image;
}

/** Width and height of a shape such as `16:9`, the longer side given. */
export function sizeOfRatio(ratio: string, longer = 96): [width: number, height: number] {
  const [across = 1, down = 1] = ratio.split(/[:x]/).map(Number);
  const scale = longer / Math.max(across, down);
  return [Math.round(across * scale), Math.round(down * scale)];
}

/** The mask convention of a vendor. */
export type MaskConvention = "white" | "black" | "transparent";

/** The image with the marked part painted over, and every other pixel as it was: what a perfect model would do. */
export async function repaintMasked(
  image: Uint8Array,
  mask: Uint8Array,
  means: MaskConvention,
  text: string,
): Promise<Buffer> {
  const base = sharp(image).removeAlpha().toColourspace("srgb");
  const { data, info } = await base.raw().toBuffer({ resolveWithObject: true });
  const marks = await sharp(mask).ensureAlpha().toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  if (marks.info.width !== info.width || marks.info.height !== info.height) throw new Error("mask of another size");
  const { r, g, b } = colourFromText(text);
  for (let at = 0; at < info.width * info.height; at++) {
    const [red = 0, alpha = 0] = [marks.data[at * 4], marks.data[at * 4 + 3]];
    const isMarked = means === "transparent" ? alpha < 128 : means === "white" ? red > 127 : red < 128;
    if (isMarked) data.set([r, g, b], at * 3);
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } })
    .png()
    .toBuffer();
}

const clips = new Map<string, Promise<Buffer>>();

/** A real video of one second. `pattern`: a source of ffmpeg's test patterns. */
export function createTestVideo(pattern = "testsrc"): Promise<Buffer> {
  const create = async () => {
    const path = join(tmpdir(), `fake-${process.pid}-${pattern}.mp4`);
    const source = `${pattern}=size=128x72:rate=12:duration=1`;
    const how = ["-y", "-loglevel", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", path];
    await promisify(execFile)("ffmpeg", how);
    const bytes = await readFile(path);
    await rm(path);
    return bytes;
  };
  const clip = clips.get(pattern) ?? create();
  clips.set(pattern, clip);
  return clip;
}
