// Snow and rain that really fall in a film: one tile, as high as two pictures, that moves down and begins anew.
import sharp from "sharp";
import { readBrief } from "../picture/brief.ts";
import { chanceOf } from "../picture/chance.ts";
import { choosePalette } from "../picture/palette.ts";
import { fall } from "../picture/weather.ts";
import { type Film, standing } from "./film.ts";

/** Pictures a second that the tile falls; rain is faster than snow. */
const speeds = { snow: 0.22, rain: 1.6 };

export const fallTile = async (prompt: string, { width, height }: Film, seed: number) => {
  const { weather } = readBrief(prompt);
  if (!weather) return undefined;
  const chance = chanceOf(`fall ${seed}`);
  const palette = choosePalette(chance, { colours: [] });
  const drawn = fall(weather, { width, height, unit: Math.min(width, height), chance, palette });
  const half = `<g>${drawn}</g><g transform="translate(0 ${height})">${drawn}</g>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height * 2}">${half}</svg>`;
  const rgba = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
  const head = `P7\nWIDTH ${width}\nHEIGHT ${height * 2}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`;
  return { picture: Buffer.concat([Buffer.from(head), rgba]), speed: speeds[weather] };
};

/** Lays the second picture over the film; both halves of the tile are equal, so nobody sees it begin anew. */
export const fallFilter = (film: Film, speed: number): string => {
  const { height } = film;
  return `[below];[1:v]format=yuva420p,${standing(film)}[fall];[below][fall]overlay=x=0:y='mod(t*${(height * speed).toFixed(2)}\\,${height})-${height}':eval=frame:format=yuv420`;
};
