// Changes a picture as a prompt says, step by step; a mask then keeps the change to where it is white.
import { chanceOf } from "../picture/chance.ts";
import { choosePalette } from "../picture/palette.ts";
import { drawPicture } from "../picture/picture.ts";
import { fall } from "../picture/weather.ts";
import { findIn, foregroundOf } from "../sight/find.ts";
import { overlaid, type Pixels, pixelsOf } from "../sight/pixels.ts";
import type { Box } from "../tasks/task.ts";
import { drawAdditions } from "./additions.ts";
import { filled } from "./fill.ts";
import { prints } from "./inset.ts";
import { blended, boxOf, feathered, type Mask } from "./mask.ts";
import { isIdle, type Plan, readPlan } from "./plan.ts";
import { holeFor } from "./removal.ts";
import { restyled } from "./restyle.ts";
import { tag } from "./tag.ts";
import { inColoursOf, tintedPixels } from "./tint.ts";
import { toned } from "./tones.ts";

export type EditOrder = {
  source: Pixels;
  mask: Mask | undefined;
  /** Further pictures. */
  references: readonly Buffer[];
  prompt: string;
  seed: number;
  /** What the tag in the corner says. */
  mark: string;
};

const svgOf = ({ width, height }: Pixels, content: string) => ({
  input: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`),
});

/** Everything but what stands before the background. */
const backgroundMask = async (pixels: Pixels): Promise<Mask> =>
  (await foregroundOf(pixels)).alpha.map((value) => 255 - value) as Buffer;

const drawnScene = async (order: EditOrder, size: { width: number; height: number }): Promise<Pixels> => {
  const { prompt, seed } = order;
  return pixelsOf(await drawPicture({ prompt, model: "", ...size, seed, index: 0, isBare: true }), size);
};

const inLight = async (pixels: Pixels, plan: Plan): Promise<Pixels> => {
  let result = pixels;
  for (const name of plan.tones) result = await toned(result, name);
  const [colour] = plan.colours;
  return colour ? tintedPixels(result, colour, 0.62) : result;
};

const recoloured = async (pixels: Pixels, { target, colour }: NonNullable<Plan["recolour"]>): Promise<Pixels> => {
  if (/\bback(?:ground|drop)\b/.test(target)) {
    return blended(pixels, tintedPixels(pixels, colour, 0.95), await backgroundMask(pixels));
  }
  const [found] = await findIn(pixels, target, false);
  // What cannot be found cannot be painted by itself; then the colour is meant for all.
  return found ? blended(pixels, tintedPixels(pixels, colour, 1), found.alpha) : tintedPixels(pixels, colour, 0.62);
};

const onBackground = async (pixels: Pixels, plan: Plan, order: EditOrder): Promise<Pixels> => {
  const mask = await backgroundMask(pixels);
  const behind = plan.background === "new" ? await drawnScene(order, pixels) : await inLight(pixels, plan);
  return blended(pixels, behind, mask);
};

/** Draws a scene of its own into the box that a mask marks. */
const sceneInBox = async (pixels: Pixels, box: Box, order: EditOrder): Promise<Pixels> => {
  const size = { width: Math.max(16, box.width), height: Math.max(16, box.height) };
  const { rgb } = await drawnScene(order, size);
  const part = { input: rgb, raw: { ...size, channels: 3 as const } };
  const left = Math.max(0, Math.min(box.x, pixels.width - size.width));
  const top = Math.max(0, Math.min(box.y, pixels.height - size.height));
  return overlaid(pixels, [{ ...part, left, top }]);
};

const withReferences = async (pixels: Pixels, plan: Plan, order: EditOrder): Promise<Pixels> => {
  const { references, seed, prompt } = order;
  const [first] = references;
  if (!first) return pixels;
  if (plan.isStyle) return inColoursOf(pixels, await pixelsOf(first, { width: 256, height: 256 }));
  const { width, height } = pixels;
  const share = references.length > 2 ? 0.46 : 0.36;
  const box = { x: width * 0.03, y: height * (0.97 - share), width: width * 0.94, height: height * share };
  const list = references.map((image) => ({ image }));
  return overlaid(pixels, await prints(list, box, pixels, `${prompt} ${seed}`));
};

const changed = async (order: EditOrder, box: Box | undefined): Promise<Pixels> => {
  const { source, prompt, seed } = order;
  const plan = readPlan(prompt);
  const isEmptyPrompt = !/\p{L}/u.test(prompt);
  if (order.mask && isEmptyPrompt) return filled(source, order.mask, seed);
  let pixels = source;
  if (plan.removal) {
    const { hole } = await holeFor(pixels, { prompt: plan.removal, isMultiple: false, hasShadow: true });
    pixels = filled(pixels, hole, seed);
  }
  if (plan.recolour) pixels = await recoloured(pixels, plan.recolour);
  if (plan.background) pixels = await onBackground(pixels, plan, order);
  else if (order.mask && box && plan.tones.length + plan.additions.length === 0 && (plan.scene || isIdle(plan))) {
    pixels = await sceneInBox(pixels, box, order);
  } else pixels = await inLight(pixels, plan);
  if (isIdle(plan) && !order.mask && !order.references.length) pixels = restyled(pixels, `${prompt} ${seed}`);
  const { width, height } = source;
  const chance = chanceOf(`${prompt}|${seed}`);
  const stage = {
    width,
    height,
    unit: Math.min(width, height),
    chance,
    palette: choosePalette(chance, { colours: [] }),
  };
  const room = {
    picture: source,
    box: box ?? { x: 0, y: 0, width, height },
    isMarked: box !== undefined,
    prompt,
    seed,
  };
  const drawn =
    drawAdditions(plan.additions, plan.text, room) +
    (plan.weather ? fall(plan.weather, stage) + fall(plan.weather, { ...stage, chance: chance.fork("more") }) : "");
  if (drawn) pixels = await overlaid(pixels, [svgOf(source, drawn)]);
  return withReferences(pixels, plan, order);
};

export const edited = async (order: EditOrder): Promise<Pixels> => {
  const { source, mask } = order;
  const box = mask ? boxOf(mask, source) : undefined;
  const result = await changed(order, box);
  if (mask) return blended(source, result, await feathered(mask, source));
  const mark = tag(source, order.mark);
  return mark ? overlaid(result, [svgOf(source, mark)]) : result;
};
