// The area to remove with an object: the object, its edge and, on request, its shadow.
import { findObjects } from "../vision/find-objects.ts";
import type { Pixels } from "../vision/pixels.ts";
import { shadowUnder } from "../vision/shadow.ts";
import { dilateMask, type Mask, unionMasks } from "./mask.ts";

type RemovalOptions = { prompt: string; isMultiple: boolean; hasShadow: boolean };

export const removalMask = async (pixels: Pixels, wish: RemovalOptions): Promise<{ hole: Mask; found: number }> => {
  const found = await findObjects(pixels, wish.prompt, wish.isMultiple);
  const shadows = wish.hasShadow ? await Promise.all(found.map(({ box }) => shadowUnder(pixels, box))) : [];
  const whole = unionMasks([...found.map(({ alpha }) => alpha), ...shadows], pixels);
  // The edge of an object is blended with what is behind it, and would remain visible.
  const rim = Math.max(2, Math.round(Math.min(pixels.width, pixels.height) * 0.004));
  return { hole: dilateMask(whole, pixels, rim, wish.hasShadow ? rim : 0), found: found.length };
};
