// Draws one image from a prompt. The same request gives the same bytes, and the image visibly depends on the prompt.
import sharp from "sharp";
import { caption } from "./caption.ts";
import { figures, usualScene } from "./figures.ts";
import { grainFor } from "./grain.ts";
import { drawNamedPerson } from "./named-person.ts";
import { choosePalette } from "./palette.ts";
import { drawPrecipitation } from "./precipitation.ts";
import type { SceneContext } from "./scene-context.ts";
import { parseScenePrompt } from "./scene-prompt.ts";
import { type SceneName, scenes } from "./scenes.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { drawStamp } from "./stamp.ts";

export type DrawOptions = {
  prompt: string;
  model: string;
  width: number;
  height: number;
  seed: number;
  /** Index of the image within the request, from 0. */
  index: number;
  /** Colours of the request's images; used if the prompt names none. */
  tints?: readonly string[];
  /** Without caption and stamp, for images that become a background or a part of another. */
  isBare?: boolean;
  /** The caption, if it is not the prompt. */
  title?: string;
  /** Further content of the scene, drawn before the weather. */
  actor?: (context: SceneContext) => string;
};

const sceneNames = Object.keys(scenes) as SceneName[];
const landscapes: readonly SceneName[] = ["hills", "forest", "city", "desert", "meadow"];

/** The prefix of a model's name selects the recovery class and is not shown in the image. */
export const modelBaseName = (model: string): string => model.replace(/^(replay|find|blind)\/|\+black$/g, "");

const compose = (order: DrawOptions): string => {
  const { prompt, model, width, height, seed, index } = order;
  const brief = parseScenePrompt(prompt);
  const random = createSeededRandom(`${prompt}|${seed}|${index}`);
  const colours = brief.colours.length ? brief.colours : (order.tints ?? []);
  const isPopulated = brief.figures.length > 0 || brief.person !== undefined;
  // If the prompt names a figure, the first colour is the figure's: "a red fox" does not tint the scene.
  const [coat, ...others] = isPopulated ? brief.colours : [];
  const wish = { hour: brief.hour, colours: coat ? others : colours, accent: coat };
  const palette = choosePalette(random.fork("palette"), wish);
  const scene =
    brief.scene ?? usualScene(brief.figures) ?? random.fork("scene").pick(isPopulated ? landscapes : sceneNames);
  const stage: SceneContext = { width, height, unit: Math.min(width, height), chance: random.fork("stage"), palette };
  const origin = `${modelBaseName(model)} - ${width} x ${height} - seed ${seed}${index ? ` - no. ${index + 1}` : ""}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    scenes[scene](stage),
    figures(brief.figures, stage, coat, scene === "studio"),
    order.actor?.(stage) ?? drawNamedPerson(brief, stage, coat),
    brief.weather ? drawPrecipitation(brief.weather, stage) : "",
    order.isBare ? "" : caption(width, height, { prompt: order.title ?? prompt, origin }) + drawStamp(order),
    "</svg>",
  ].join("");
};

export const drawImage = async (order: DrawOptions): Promise<Buffer> =>
  sharp(Buffer.from(compose(order)))
    .composite(grainFor(order.width, order.height))
    .removeAlpha()
    .png({ compressionLevel: 6 })
    .toBuffer();
