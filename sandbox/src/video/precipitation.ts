// Snow and rain that really fall in a video: one tile, as high as two images, that moves down and begins anew.
import { choosePalette } from "../drawing/palette.ts";
import { drawPrecipitation } from "../drawing/precipitation.ts";
import { parseScenePrompt } from "../drawing/scene-prompt.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { renderOverlay } from "./overlay.ts";
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
  return { image: await renderOverlay({ width, height: height * 2 }, half), speed: speeds[weather] };
};

/** Lays input `index` over the video; both halves of the tile are equal, so the loop is seamless. */
export const precipitationFilter = (format: VideoFormat, speed: number, index: number): string => {
  const { height } = format;
  return `[below];[${index}:v]format=yuva420p,${loopStillFilter(format)}[fall];[below][fall]overlay=x=0:y='mod(t*${(height * speed).toFixed(2)}\\,${height})-${height}':eval=frame:format=yuv420`;
};
