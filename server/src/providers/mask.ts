// On our side of the door white is what changes in a mask. This is for adapters of vendors that mean black.
import sharp from "sharp";

export const invertMask = (mask: Uint8Array): Promise<Uint8Array> =>
  sharp(mask).negate().toColourspace("b-w").png().toBuffer();
