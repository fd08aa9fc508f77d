// Decodes an image and returns its fingerprints: of the image as it is, and of what it may have been before a crop.
import "./allowed-formats.ts";
import sharp from "sharp";
import { MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";
import { type FingerprintPixels, fingerprintsOf, type LostMargins } from "../fingerprint.ts";
import { turnUpright } from "./decode.ts";

/** The same size as that of the small thumbnail, whose pixels give the fingerprint of an output. */
const SIDE = 320;

/** Empty for an image without structure. */
export async function fingerprintImage(
  bytes: Uint8Array,
  { orientation, lost }: { orientation: number; lost: LostMargins[] },
): Promise<string[]> {
  const image = sharp(bytes, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true });
  const scaled = turnUpright(image, orientation)
    .resize({ width: SIDE, height: SIDE, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb");
  const { data, info } = await scaled.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const pixels: FingerprintPixels = { data, width, height, channels: info.channels as FingerprintPixels["channels"] };
  return fingerprintsOf(pixels, lost);
}
