// Makes one image from words. The same request gives the same bytes, and the image visibly answers the prompt.
import sharp from "sharp";
import { caption } from "./caption.ts";
import { figures } from "./figures.ts";
import { grainFor } from "./grain.ts";
import { choosePalette } from "./palette.ts";
import { drawPrecipitation } from "./precipitation.ts";
import type { SceneContext } from "./scene-context.ts";
import { parseScenePrompt } from "./scene-prompt.ts";
import { type SceneName, scenes } from "./scenes.ts";
import { createSeededRandom } from "./seeded-random.ts";

export type DrawOptions = {
  prompt: string;
  model: string;
  width: number;
  height: number;
  seed: number;
  /** Which of the images of one request this is, from 0. */
  index: number;
  /** Colours taken from images that came with the request; they speak where the prompt names none. */
  tints?: readonly string[];
  /** Without its caption an image can be put behind or into another. */
  isBare?: boolean;
  /** What the caption says, where that is not the prompt. */
  title?: string;
  /** What else stands in the scene, drawn before the weather. */
  actor?: (context: SceneContext) => string;
};

const sceneNames = Object.keys(scenes) as SceneName[];
const landscapes: readonly SceneName[] = ["mountains", "forest", "city", "desert", "meadow"];

/** The class in front of a model's name is for recovery only and means nothing to those who look at the image. */
export const modelBaseName = (model: string): string => model.replace(/^(replay|find|blind)\/|\+black$/g, "");

const compose = (order: DrawOptions): string => {
  const { prompt, model, width, height, seed, index } = order;
  const brief = parseScenePrompt(prompt);
  const random = createSeededRandom(`${prompt}|${seed}|${index}`);
  const colours = brief.colours.length ? brief.colours : (order.tints ?? []);
  // "A red fox" asks for a red fox, not for a red world: where a figure is named, the first colour is its own.
  const [coat, ...others] = brief.figures.length ? brief.colours : [];
  const wish = { hour: brief.hour, colours: coat ? others : colours, accent: coat };
  const palette = choosePalette(random.fork("palette"), wish);
  const scene = brief.scene ?? random.fork("scene").pick(brief.figures.length ? landscapes : sceneNames);
  const stage: SceneContext = { width, height, unit: Math.min(width, height), chance: random.fork("stage"), palette };
  const origin = `${modelBaseName(model)} - ${width} x ${height} - seed ${seed}${index ? ` - no. ${index + 1}` : ""}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    scenes[scene](stage),
    figures(brief.figures, stage, coat),
    order.actor?.(stage) ?? "",
    brief.weather ? drawPrecipitation(brief.weather, stage) : "",
    order.isBare ? "" : caption(width, height, { prompt: order.title ?? prompt, origin }),
    "</svg>",
  ].join("");
};

export const drawImage = async (order: DrawOptions): Promise<Buffer> =>
  sharp(Buffer.from(compose(order)))
    .composite(grainFor(order.width, order.height))
    .removeAlpha()
    .png({ compressionLevel: 6 })
    .toBuffer();
