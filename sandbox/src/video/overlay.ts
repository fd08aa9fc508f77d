// Still images laid over a video: written in a format with transparency that ffmpeg reads without unpacking.
import sharp from "sharp";
import { drawStamp } from "../drawing/stamp.ts";
import type { Size } from "../size.ts";
import { loopStillFilter, type VideoFormat } from "./video-format.ts";

/** SVG content as a PAM image. */
export const renderOverlay = async ({ width, height }: Size, content: string): Promise<Buffer> => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
  const rgba = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
  const head = `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`;
  return Buffer.concat([Buffer.from(head), rgba]);
};

/** The stamp of the sandbox, on every frame; undefined if the frames are too small for it. */
export const stampOverlay = async ({ width, height }: VideoFormat): Promise<Buffer | undefined> => {
  const stamp = drawStamp({ width, height });
  return stamp ? renderOverlay({ width, height: Math.ceil(Math.min(width, height) * 0.12) }, stamp) : undefined;
};

/** Lays input `index` over the video at a fixed place. */
export const stampFilter = (format: VideoFormat, index: number): string =>
  `[moving];[${index}:v]format=yuva420p,${loopStillFilter(format)}[stamp];[moving][stamp]overlay=x=0:y=0:format=yuv420`;
