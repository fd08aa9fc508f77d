// The one place that decodes pixels. The decoder sees only the three formats we take, only pictures whose size was
// checked, never their metadata, and never for long.
import sharp, { type Sharp } from "sharp";
import { cleanBytes, damaged, type ImageLayout } from "./image-layout.ts";

export const mostPixels = 50_000_000;
const decodeSeconds = 10;

// Every other reader is an entrance that we do not need. These settings hold for the whole process.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"] });
sharp.cache(false);
// Many small pictures at once are our load, and one thread each wastes the least on them.
sharp.concurrency(1);

const open = (bytes: Uint8Array, layout: ImageLayout) =>
  sharp(cleanBytes(bytes, layout), { failOn: "truncated", limitInputPixels: mostPixels, sequentialRead: true }).timeout(
    {
      seconds: decodeSeconds,
    },
  );

/**
 * Decodes everything and keeps next to nothing. Averaging into a few pixels reads every row, yet lets JPEG and WebP
 * take their shortcuts; the nearest-neighbour kernel would be no faster and overlooks a missing end.
 */
export const proveDecodable = async (bytes: Uint8Array, layout: ImageLayout): Promise<void> => {
  try {
    await open(bytes, layout).resize(8, 8, { fit: "fill" }).raw().toBuffer();
  } catch (cause) {
    throw damaged("pixels", cause);
  }
};

/** Turns the pixels upright and encodes them again, in sRGB, in the format they came in. */
export const turnUpright = async (bytes: Uint8Array, layout: ImageLayout): Promise<Uint8Array> => {
  const [angle, isMirrored] = turns[layout.orientation] ?? [0, false];
  try {
    const upright = open(bytes, layout).flop(isMirrored).rotate(angle);
    return await encode(upright, layout).toBuffer();
  } catch (cause) {
    throw damaged("pixels", cause);
  }
};

/** By EXIF's number. The decoder mirrors left to right before it turns clockwise, in whichever order it is asked. */
const turns: Record<number, [angle: number, isMirrored: boolean]> = {
  2: [0, true],
  3: [180, false],
  4: [180, true],
  5: [270, true],
  6: [90, false],
  7: [90, true],
  8: [270, false],
};

const encode = (image: Sharp, { media_type }: ImageLayout): Sharp => {
  if (media_type === "image/png") return image.png();
  if (media_type === "image/webp") return image.webp({ quality: 95 });
  return image.jpeg({ quality: 95, chromaSubsampling: "4:4:4" });
};
