// What marking a file needs to know of its container. Only headers are read: nothing is decoded, and pixels are copied
// as they are.

/**
 * `manifest`: the C2PA manifest store. `xmp`: the XMP packet. `cut`: where the file ends too early, if it does; what
 * comes before is read all the same. `insert` builds the file with another packet in place of its own.
 */
export type FileParts = {
  manifest: Uint8Array | undefined;
  xmp: string | undefined;
  cut: "headers" | "content" | undefined;
  insert(packet: string, comments: Record<string, string>): Uint8Array;
};

/** Thrown for a file whose headers are not those of its format. */
export class UnreadableFile extends Error {}

/** The pieces of a file in order. Returns whether the file ends too early. Throws `UnreadableFile`. */
export type FileWalk<Piece> = Generator<Piece, { isCut: boolean }>;

/** Calls `each` for every piece, which is then forgotten: a file can have millions. */
export function visitPieces<Piece>(walk: FileWalk<Piece>, each: (piece: Piece) => void): { isCut: boolean } {
  for (;;) {
    const next = walk.next();
    if (next.done) return next.value;
    each(next.value);
  }
}

export type FileSection = { start: number; end: number };

/** Copies the file without the ranges, which are in order, and with `inserted` at `position`. */
export function rebuildFile(
  bytes: Uint8Array,
  removed: FileSection[],
  { position, inserted }: { position: number; inserted: Uint8Array[] },
): Buffer {
  const parts: Uint8Array[] = [];
  let at = 0;
  const copyTo = (end: number) => {
    if (end > at) parts.push(bytes.subarray(at, end));
    at = Math.max(at, end);
  };
  let isInserted = false;
  const insertBefore = (limit: number) => {
    if (isInserted || position > limit) return;
    copyTo(position);
    parts.push(...inserted);
    isInserted = true;
  };
  for (const { start, end } of removed) {
    insertBefore(start);
    copyTo(start);
    at = Math.max(at, end);
  }
  insertBefore(bytes.byteLength);
  copyTo(bytes.byteLength);
  return Buffer.concat(parts);
}

export const ascii = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, Math.min(end, bytes.byteLength) - start)).toString(
    "latin1",
  );

export const utf8 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
