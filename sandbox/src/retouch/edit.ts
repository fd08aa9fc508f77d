// Applies the edits of a prompt step by step; a mask then restricts the change to its white area.

import { drawImage } from "../drawing/draw-image.ts";
import { choosePalette } from "../drawing/palette.ts";
import { drawPrecipitation } from "../drawing/precipitation.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { drawStamp } from "../drawing/stamp.ts";
import type { Box } from "../tasks/task.ts";
import { findObjects, foregroundMask } from "../vision/find-objects.ts";
import { overlayImages, type Pixels, pixelsOf } from "../vision/pixels.ts";
import { drawAdditions } from "./additions.ts";
import { type EditPlan, isEmptyPlan, parseEditPrompt } from "./edit-plan.ts";
import { inpaint } from "./fill.ts";
import { drawInsets } from "./inset.ts";
import { blendByMask, boundingBox, featherMask, type Mask } from "./mask.ts";
import { removalMask } from "./removal.ts";
import { restyle } from "./restyle.ts";
import { matchColours, tintPixels } from "./tint.ts";
import { applyTone } from "./tones.ts";

export type EditOptions = {
  source: Pixels;
  mask: Mask | undefined;
  /** Further images. */
  references: readonly Buffer[];
  prompt: string;
  seed: number;
  /** The name of the model, for the stamp. */
  model: string;
};

const svgOf = ({ width, height }: Pixels, content: string) => ({
  input: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`),
});

/** Everything except the objects in front of the background. */
const backgroundMask = async (pixels: Pixels): Promise<Mask> =>
  (await foregroundMask(pixels)).alpha.map((value) => 255 - value) as Buffer;

const drawnScene = async (order: EditOptions, size: { width: number; height: number }): Promise<Pixels> => {
  const { prompt, seed } = order;
  return pixelsOf(await drawImage({ prompt, model: "", ...size, seed, index: 0, isBare: true }), size);
};

const inLight = async (pixels: Pixels, plan: EditPlan): Promise<Pixels> => {
  let result = pixels;
  for (const name of plan.tones) result = await applyTone(result, name);
  const [colour] = plan.colours;
  return colour ? tintPixels(result, colour, 0.62) : result;
};

const recoloured = async (pixels: Pixels, { target, colour }: NonNullable<EditPlan["recolour"]>): Promise<Pixels> => {
  if (/\bback(?:ground|drop)\b/.test(target)) {
    return blendByMask(pixels, tintPixels(pixels, colour, 0.95), await backgroundMask(pixels));
  }
  const [found] = await findObjects(pixels, target, false);
  // If the object is not found, the colour is applied to the whole image.
  return found ? blendByMask(pixels, tintPixels(pixels, colour, 1), found.alpha) : tintPixels(pixels, colour, 0.62);
};

const onBackground = async (pixels: Pixels, plan: EditPlan, order: EditOptions): Promise<Pixels> => {
  const mask = await backgroundMask(pixels);
  const behind = plan.background === "new" ? await drawnScene(order, pixels) : await inLight(pixels, plan);
  return blendByMask(pixels, behind, mask);
};

/** Draws a new scene into the masked area. */
const sceneInBox = async (pixels: Pixels, box: Box, order: EditOptions): Promise<Pixels> => {
  const size = { width: Math.max(16, box.width), height: Math.max(16, box.height) };
  const { rgb } = await drawnScene(order, size);
  const part = { input: rgb, raw: { ...size, channels: 3 as const } };
  const left = Math.max(0, Math.min(box.x, pixels.width - size.width));
  const top = Math.max(0, Math.min(box.y, pixels.height - size.height));
  return overlayImages(pixels, [{ ...part, left, top }]);
};

const withReferences = async (pixels: Pixels, plan: EditPlan, order: EditOptions): Promise<Pixels> => {
  const { references, seed, prompt } = order;
  const [first] = references;
  if (!first) return pixels;
  if (plan.isStyle) return matchColours(pixels, await pixelsOf(first, { width: 256, height: 256 }));
  const { width, height } = pixels;
  // One or two prints hang in the sky beside the subject; more take the lower part.
  const few = {
    x: width * (references.length > 1 ? 0.3 : 0.58),
    y: height * 0.1,
    width: width * 0.4,
    height: height * 0.4,
  };
  const many = { x: width * 0.03, y: height * 0.51, width: width * 0.94, height: height * 0.46 };
  const box = references.length > 2 ? many : { ...few, width: width * 0.97 - few.x };
  const list = references.map((image) => ({ image }));
  return overlayImages(pixels, await drawInsets(list, box, pixels, `${prompt} ${seed}`));
};

const changed = async (order: EditOptions, box: Box | undefined): Promise<Pixels> => {
  const { source, prompt, seed } = order;
  const plan = parseEditPrompt(prompt);
  const isEmptyPrompt = !/\p{L}/u.test(prompt);
  if (order.mask && isEmptyPrompt) return inpaint(source, order.mask, seed);
  let pixels = source;
  if (plan.removal) {
    const { hole } = await removalMask(pixels, { prompt: plan.removal, isMultiple: false, hasShadow: true });
    pixels = inpaint(pixels, hole, seed);
  }
  if (plan.recolour) pixels = await recoloured(pixels, plan.recolour);
  if (plan.background) pixels = await onBackground(pixels, plan, order);
  else if (order.mask && box && plan.tones.length + plan.additions.length === 0 && (plan.scene || isEmptyPlan(plan))) {
    pixels = await sceneInBox(pixels, box, order);
  } else pixels = await inLight(pixels, plan);
  if (isEmptyPlan(plan) && !order.mask && !order.references.length) pixels = restyle(pixels, `${prompt} ${seed}`);
  const { width, height } = source;
  const random = createSeededRandom(`${prompt}|${seed}`);
  const stage = {
    width,
    height,
    unit: Math.min(width, height),
    chance: random,
    palette: choosePalette(random, { colours: [] }),
  };
  const space = {
    image: source,
    box: box ?? { x: 0, y: 0, width, height },
    isMarked: box !== undefined,
    prompt,
    seed,
  };
  const drawn =
    drawAdditions(plan.additions, plan.text, space) +
    (plan.weather
      ? drawPrecipitation(plan.weather, stage) +
        drawPrecipitation(plan.weather, { ...stage, chance: random.fork("more") })
      : "");
  if (drawn) pixels = await overlayImages(pixels, [svgOf(source, drawn)]);
  return withReferences(pixels, plan, order);
};

export const editImage = async (order: EditOptions): Promise<Pixels> => {
  const { source, mask } = order;
  const box = mask ? boundingBox(mask, source) : undefined;
  const result = await changed(order, box);
  if (mask) return blendByMask(source, result, await featherMask(mask, source));
  const stamp = drawStamp(source, order);
  return stamp ? overlayImages(result, [svgOf(source, stamp)]) : result;
};
