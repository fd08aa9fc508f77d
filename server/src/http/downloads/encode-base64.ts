// Encodes bytes as base64 piece by piece: a large file is never in memory as a whole, and pieces are not joined.

/** Three bytes are four characters: what is left over of a piece begins the next group. */
const GROUP_BYTES = 3;

export async function* encodeBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of pieces) {
    const group = rest.length > 0 ? Buffer.concat([rest, piece.subarray(0, GROUP_BYTES - rest.length)]) : rest;
    if (group.length % GROUP_BYTES !== 0) {
      rest = group;
      continue;
    }
    const start = group.length - rest.length;
    const end = piece.length - ((piece.length - start) % GROUP_BYTES);
    if (end > 0) yield Buffer.from(encode(group) + encode(piece.subarray(start, end)), "latin1");
    rest = piece.subarray(end);
  }
  if (rest.length > 0) yield Buffer.from(encode(rest), "latin1");
}

const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
