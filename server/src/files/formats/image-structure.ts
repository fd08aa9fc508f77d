// Common parts of the structure parsers. They read headers and decode nothing, so a small file with an enormous
// claimed size is refused cheaply.
import { Fault } from "../../faults/faults.ts";
import { type FileWalk, UnreadableFile } from "./file-parts.ts";

export type ImageType = "image/jpeg" | "image/png" | "image/webp";

export type ImageStructure = {
  media_type: ImageType;
  /** Size of the stored pixels, before rotation. */
  width: number;
  height: number;
  isAnimated: boolean;
  /** EXIF orientation, 1 to 8. 1 is upright. */
  orientation: number;
  /** Whether the format is lossless, so that encoding it again must be lossless too. */
  isLossless: boolean;
  /** CMYK colors, which few models and browsers can read. */
  isCmyk: boolean;
  /** The C2PA manifest store of the file, unchanged. */
  c2paManifest: Uint8Array | undefined;
  /** Byte ranges with pixels and color information: no metadata, no comments, nothing after the end. */
  keptRanges: Uint8Array[];
};

/** Far more than any tool writes. Protects against files with millions of empty segments. */
const mostPieces = 65_536;
/** Large enough for any manifest with thumbnails. */
const mostManifestBytes = 8 * 1024 * 1024;
/** Print profiles have up to 2 MB. */
const mostProfileBytes = 4 * 1024 * 1024;

export const undecodableImage = (reason: string, cause?: unknown): Fault =>
  new Fault("image_undecodable", { reason }, { cause });

/** A bounds-checked reader: reading past the end throws instead of returning undefined. */
export const createBoundedReader = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const within = <T>(read: () => T): T => {
    try {
      return read();
    } catch {
      throw undecodableImage("truncated");
    }
  };
  return {
    u8: (at: number) => within(() => view.getUint8(at)),
    u16: (at: number, isLittle = false) => within(() => view.getUint16(at, isLittle)),
    u32: (at: number, isLittle = false) => within(() => view.getUint32(at, isLittle)),
    text: (at: number, length: number) => Buffer.from(bytes.subarray(at, at + length)).toString("latin1"),
  };
};

/** Collects byte ranges and merges adjacent ones, so that a file of a million chunks has few ranges. */
export const createRangeCollector = (bytes: Uint8Array) => {
  const ranges: { start: number; end: number }[] = [];
  return {
    keep: (start: number, end: number) => {
      const last = ranges.at(-1);
      if (last?.end === start) last.end = end;
      else ranges.push({ start, end });
    },
    parts: () => ranges.map(({ start, end }) => bytes.subarray(start, end)),
  };
};

/** The pieces of an image that is to be decoded: it must be whole, and have no more of them than any tool writes. */
export function* piecesOfWhole<Piece>(walk: FileWalk<Piece>): Generator<Piece> {
  for (let count = 0; ; count++) {
    if (count > mostPieces) throw undecodableImage("too many pieces");
    const next = nextPiece(walk);
    if (next.done && next.value.isCut) throw undecodableImage("truncated");
    if (next.done) return;
    yield next.value;
  }
}

function nextPiece<Piece>(walk: FileWalk<Piece>) {
  try {
    return walk.next();
  } catch (thrown) {
    throw thrown instanceof UnreadableFile ? undecodableImage(thrown.message) : thrown;
  }
}

/** Returns the bytes if they are a JUMBF box with a manifest store; undefined otherwise. */
export const parseC2paManifest = (bytes: Uint8Array | undefined): Uint8Array | undefined => {
  if (!bytes || bytes.byteLength > mostManifestBytes) return undefined;
  const text = createBoundedReader(bytes).text(0, 64);
  const isStore = text.slice(4, 8) === "jumb" && text.slice(12, 16) === "jumd" && text.slice(16, 20) === "c2pa";
  return isStore ? bytes : undefined;
};

/** Checks length and signature of a color profile. Invalid profiles are removed, oversized ones are refused. */
export const isIccProfile = (profile: Uint8Array): boolean => {
  if (profile.byteLength > mostProfileBytes) throw undecodableImage("colour profile too large");
  const read = createBoundedReader(profile);
  return profile.byteLength >= 128 && read.u32(0) === profile.byteLength && read.text(36, 4) === "acsp";
};

/** The file reduced to its kept ranges; the same bytes if nothing has to be removed. */
export const stripMetadata = (bytes: Uint8Array, { keptRanges: parts }: ImageStructure): Uint8Array => {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  return size === bytes.byteLength ? bytes : Buffer.concat(parts, size);
};
