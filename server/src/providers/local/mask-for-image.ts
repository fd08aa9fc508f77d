// Checks that a mask has the aspect ratio of its image. The size can differ, because providers return their own sizes.
import { providerFault } from "../call-provider.ts";
import { type ImageSize, readGrey, readImageSize } from "./pixels.ts";

const mostSkewPercent = 1;

export const readMaskFor = async (mask: Uint8Array, image: ImageSize): Promise<Uint8Array> => {
  const { width, height } = image;
  const own = await readImageSize(mask);
  const difference = Math.abs(own.width * height - own.height * width);
  if (difference * 100 > own.height * width * mostSkewPercent) {
    throw providerFault("mask_mismatch", { kind: "refused" }, { mask: own, image: { width, height } });
  }
  return readGrey(mask, image);
};
