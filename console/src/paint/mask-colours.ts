// The colours of the mask in sRGB, because a canvas needs numbers. The first one is `--mask` of the design.
import type { MaskColour } from "./brush-settings.ts";

export const COLOUR_VALUES: Record<MaskColour, readonly [red: number, green: number, blue: number]> = {
  magenta: [255, 22, 185],
  green: [93, 224, 128],
  yellow: [247, 201, 72],
  white: [246, 246, 246],
};
