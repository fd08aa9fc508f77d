// Snow and rain that really fall in a video: one tile, as high as two images, that moves down and begins anew.
import sharp from "sharp";
import { choosePalette } from "../drawing/palette.ts";
import { drawPrecipitation } from "../drawing/precipitation.ts";
import { parseScenePrompt } from "../drawing/scene-prompt.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { loopStillFilter, type VideoFormat } from "./video-format.ts";

/** Images a second that the tile falls; rain is faster than snow. */
const speeds = { snow: 0.22, rain: 1.6 };

export const precipitationTile = async (prompt: string, { width, height }: VideoFormat, seed: number) => {
  const { weather } = parseScenePrompt(prompt);
  if (!weather) return undefined;
  const random = createSeededRandom(`fall ${seed}`);
  const palette = choosePalette(random, { colours: [] });
  const drawn = drawPrecipitation(weather, { width, height, unit: Math.min(width, height), chance: random, palette });
  const half = `<g>${drawn}</g><g transform="translate(0 ${height})">${drawn}</g>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height * 2}">${half}</svg>`;
  const rgba = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
  const head = `P7\nWIDTH ${width}\nHEIGHT ${height * 2}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`;
  return { image: Buffer.concat([Buffer.from(head), rgba]), speed: speeds[weather] };
};

/** Lays the second image over the video; both halves of the tile are equal, so the loop is seamless. */
export const precipitationFilter = (format: VideoFormat, speed: number): string => {
  const { height } = format;
  return `[below];[1:v]format=yuva420p,${loopStillFilter(format)}[fall];[below][fall]overlay=x=0:y='mod(t*${(height * speed).toFixed(2)}\\,${height})-${height}':eval=frame:format=yuv420`;
};
