// What has to go when things are taken out of a picture: they themselves, their rim and, if wanted, their shadow.
import { findIn } from "../sight/find.ts";
import type { Pixels } from "../sight/pixels.ts";
import { shadowUnder } from "../sight/shadow.ts";
import { type Mask, united, widened } from "./mask.ts";

type Wish = { prompt: string; isMultiple: boolean; hasShadow: boolean };

export const holeFor = async (pixels: Pixels, wish: Wish): Promise<{ hole: Mask; found: number }> => {
  const found = await findIn(pixels, wish.prompt, wish.isMultiple);
  const shadows = wish.hasShadow ? await Promise.all(found.map(({ box }) => shadowUnder(pixels, box))) : [];
  const whole = united([...found.map(({ alpha }) => alpha), ...shadows], pixels);
  // The rim of a thing is mixed with what lies behind it, and would stay as a ghost.
  const rim = Math.max(2, Math.round(Math.min(pixels.width, pixels.height) * 0.004));
  return { hole: widened(whole, pixels, rim, wish.hasShadow ? rim : 0), found: found.length };
};
