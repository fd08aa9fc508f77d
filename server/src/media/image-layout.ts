// What a picture file says about itself, read from its structure alone. Nothing is decoded here, so a file of a few
// bytes that claims to be enormous costs nothing to refuse.
import { Fault } from "../faults.ts";

export type ImageType = "image/jpeg" | "image/png" | "image/webp";

export type ImageLayout = {
  media_type: ImageType;
  /** As the pixels are stored, before they are turned upright. */
  width: number;
  height: number;
  isAnimated: boolean;
  /** 1 to 8, as EXIF counts; 1 is upright. */
  orientation: number;
  /** The pieces that make the picture and its colours: no metadata, no comments, nothing after the end. */
  parts: Uint8Array[];
};

export const damaged = (reason: string, cause?: unknown): Fault =>
  new Fault("image_undecodable", { reason }, { cause });

/** A view with bounds: reading past the end is damage and not an undefined that wanders on. */
export const reader = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const within = <T>(read: () => T): T => {
    try {
      return read();
    } catch {
      throw damaged("truncated");
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
export const pieces = (bytes: Uint8Array) => {
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

/** The file with only its parts; the very same bytes where there was nothing to leave out. */
export const cleanBytes = (bytes: Uint8Array, { parts }: ImageLayout): Uint8Array => {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  return size === bytes.byteLength ? bytes : Buffer.concat(parts, size);
};
