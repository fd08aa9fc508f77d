// What a picture file says about itself, read from its structure alone. Nothing is decoded here, so a file of a few
// bytes that claims to be enormous costs nothing to refuse.
import { Fault } from "../faults.ts";

export type ImageType = "image/jpeg" | "image/png" | "image/webp";

export type ImageStructure = {
  media_type: ImageType;
  /** As the pixels are stored, before they are turned upright. */
  width: number;
  height: number;
  isAnimated: boolean;
  /** 1 to 8, as EXIF counts; 1 is upright. */
  orientation: number;
  /** Whether drawing it anew may lose nothing. */
  isLossless: boolean;
  /** Colours for printing, which hardly any screen or model reads. */
  isCmyk: boolean;
  /** What the file says, signed, about where it comes from: the C2PA manifest store, as it stood in the file. */
  c2paManifest: Uint8Array | undefined;
  /** The pieces that make the picture and its colours: no metadata, no comments, nothing after the end. */
  keptRanges: Uint8Array[];
};

/** Far more than any tool writes; a file of millions of empty pieces would keep everybody waiting. */
const mostPieces = 65_536;
/** A manifest with its pictures fits easily; what is larger is not one. */
const mostManifestBytes = 8 * 1024 * 1024;
/** Profiles for print have up to two megabytes. */
const mostProfileBytes = 4 * 1024 * 1024;

export const undecodableImage = (reason: string, cause?: unknown): Fault =>
  new Fault("image_undecodable", { reason }, { cause });

/** A view with bounds: reading past the end is damage and not an undefined that wanders on. */
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

/** Collects ranges of a file; neighbours become one, so a file of a million chunks is still a few pieces. */
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

/** Passes pieces on, and ends a file that has too many of them. */
export function* limitSegments<Piece>(pieces: Iterable<Piece>): Generator<Piece> {
  let count = 0;
  for (const piece of pieces) {
    if (++count > mostPieces) throw undecodableImage("too many pieces");
    yield piece;
  }
}

/** A box of boxes whose first says that it is a manifest store; anything else under its name is not worth keeping. */
export const parseC2paManifest = (bytes: Uint8Array | undefined): Uint8Array | undefined => {
  if (!bytes || bytes.byteLength > mostManifestBytes) return undefined;
  const text = createBoundedReader(bytes).text(0, 64);
  const isStore = text.slice(4, 8) === "jumb" && text.slice(12, 16) === "jumd" && text.slice(16, 20) === "c2pa";
  return isStore ? bytes : undefined;
};

/** A colour profile says its own length and what it is; one that does not is left out, and one without end is an attack. */
export const isIccProfile = (profile: Uint8Array): boolean => {
  if (profile.byteLength > mostProfileBytes) throw undecodableImage("colour profile too large");
  const read = createBoundedReader(profile);
  return profile.byteLength >= 128 && read.u32(0) === profile.byteLength && read.text(36, 4) === "acsp";
};

/** The file with only its parts; the very same bytes where there was nothing to leave out. */
export const stripMetadata = (bytes: Uint8Array, { keptRanges: parts }: ImageStructure): Uint8Array => {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  return size === bytes.byteLength ? bytes : Buffer.concat(parts, size);
};
