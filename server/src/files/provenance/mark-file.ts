// Marks a file with its digital source type, by inserting metadata into its container. Decoded pixels are unchanged.
import type { FileParts } from "../formats/file-parts.ts";
import { UnreadableFile } from "../formats/file-parts.ts";
import { readJpegParts } from "../formats/jpeg.ts";
import { readMp4Parts } from "../formats/mp4.ts";
import { readPngParts } from "../formats/png.ts";
import { readWebpParts } from "../formats/webp.ts";
import { buildXmpPacket, CREATOR_TOOL, type FileMark, type ReadMark, readXmpMark } from "./xmp-packet.ts";

const READERS: Record<string, (bytes: Uint8Array) => FileParts> = {
  "image/png": readPngParts,
  "image/jpeg": readJpegParts,
  "image/webp": readWebpParts,
  "video/mp4": readMp4Parts,
};

/** Undefined if the format is another one, or if the headers cannot be read to their end. */
export function readFileParts(bytes: Uint8Array, mediaType: string): FileParts | undefined {
  const parts = readAvailableParts(bytes, mediaType);
  return parts?.cut === "headers" ? undefined : parts;
}

/** What can be read of a file, even if it ends too early. */
export function readAvailableParts(bytes: Uint8Array, mediaType: string): FileParts | undefined {
  try {
    return READERS[mediaType]?.(bytes);
  } catch (thrown) {
    if (thrown instanceof UnreadableFile) return undefined;
    throw thrown;
  }
}

export type MarkedFile = { bytes: Uint8Array; state: "marked" | "unmarked" };

/** A file that already has a digital source type keeps it: the provider knows best what its model made. */
export function markFile(parts: FileParts | undefined, bytes: Uint8Array, mark: FileMark): MarkedFile {
  if (!parts) return { bytes, state: "unmarked" };
  if (parts.xmp && readXmpMark(parts.xmp)) return { bytes, state: "marked" };
  const comments = { Software: CREATOR_TOOL, Comment: `Digital source type: ${mark.digitalSourceType}` };
  return { bytes: parts.insert(buildXmpPacket(mark), comments), state: "marked" };
}

export const readMark = (parts: FileParts | undefined): ReadMark | undefined =>
  parts?.xmp === undefined ? undefined : readXmpMark(parts.xmp);
