// Says which of the formats that Gesso reads a file has, by its first bytes. What a name, a URL or a sender says does
// not count, and nothing behind the first bytes is read.
import type { ImageType } from "./image-structure.ts";

export type ReadableType = ImageType | "video/mp4";

/** With so many bytes the answer is final. Fewer bytes may be the start of several formats. */
export const TYPE_BYTES = 12;

/** MP4 brands that players support. HEIC, AVIF and QuickTime files start with the same box and other brands. */
const BRANDS = new Set(["isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V "]);

const startOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, TYPE_BYTES)).toString("latin1");

export function detectType(bytes: Uint8Array): ReadableType | undefined {
  const start = startOf(bytes);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "image/webp";
  return isIsoMedia(bytes) && BRANDS.has(start.slice(8)) ? "video/mp4" : undefined;
}

/** Whether the file has the boxes of an MP4, whatever its brand: metadata stands in the same places. */
export const isIsoMedia = (bytes: Uint8Array): boolean => startOf(bytes).slice(4, 8) === "ftyp";

const IMAGE_STARTS = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

/** Whether these bytes, which may be fewer than 12, can be the start of an image that Gesso reads. */
export const canBeImageStart = (bytes: Uint8Array): boolean => {
  const start = startOf(bytes);
  return IMAGE_STARTS.some((signature) => start.startsWith(signature) || signature.startsWith(start));
};

export const isVideo = (bytes: Uint8Array): boolean => detectType(bytes) === "video/mp4";
