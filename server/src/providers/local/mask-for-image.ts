// A mask belongs to a picture when it has the same shape; its size may differ, because vendors work in sizes of their
// own.
import { providerFault } from "../call-provider.ts";
import { type ImageSize, readGrey, readImageSize } from "./pixels.ts";

const mostSkewPercent = 1;

export const readMaskFor = async (mask: Uint8Array, picture: ImageSize): Promise<Uint8Array> => {
  const { width, height } = picture;
  const own = await readImageSize(mask);
  const difference = Math.abs(own.width * height - own.height * width);
  if (difference * 100 > own.height * width * mostSkewPercent) {
    throw providerFault("mask_mismatch", { kind: "refused" }, { mask: own, image: { width, height } });
  }
  return readGrey(mask, picture);
};
