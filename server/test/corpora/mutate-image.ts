// Mutates images in the ways that break decoders: truncation, flipped bits, wrong lengths, and pieces duplicated,
// dropped or taken from another file. The same seed gives the same files, so every finding is reproducible.
import { crc32 } from "node:zlib";
import { createSeededRandom } from "../support/seeded-random.ts";

type Change = (bytes: Buffer, pick: (below: number) => number, other: Buffer) => Buffer;

const wild = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const set = (bytes: Buffer, change: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(bytes);
  if (copy.length > 4) change(copy);
  return copy;
};

const flip = (copy: Buffer, at: number, bit: number) => {
  copy[at]! ^= 1 << bit;
};

const mutations: Change[] = [
  (bytes, pick) => bytes.subarray(0, pick(bytes.length + 1)),
  (bytes, pick) => set(bytes, (copy) => flip(copy, pick(copy.length), pick(8))),
  (bytes, pick) => set(bytes, (copy) => copy.fill(pick(256), pick(copy.length))),
  // Sizes, types and lengths are near the beginning, so most mutations are there.
  (bytes, pick) =>
    set(bytes, (copy) => copy.writeUInt32BE(wild[pick(wild.length)]!, pick(Math.min(copy.length - 4, 64)))),
  (bytes, pick) => set(bytes, (copy) => copy.writeUInt32LE(wild[pick(wild.length)]!, pick(copy.length - 4))),
  (bytes, pick) => set(bytes, (copy) => copy.writeUInt16BE(wild[pick(8)]!, pick(copy.length - 4))),
  (bytes, pick) => {
    const [from, size] = [pick(bytes.length), pick(200)];
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + size)]);
  },
  (bytes, pick) => {
    const [from, size, to] = [pick(bytes.length), pick(500), pick(bytes.length)];
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from, from + size), bytes.subarray(to)]);
  },
  (bytes, pick, other) => {
    const [from, to] = [pick(other.length), pick(bytes.length)];
    return Buffer.concat([bytes.subarray(0, to), other.subarray(from)]);
  },
];

/** Recomputes the checksums of a PNG, so that the mutation reaches the decoder. */
const fixPngChecksums = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  if (copy[0] !== 0x89) return copy;
  for (let at = 8; at + 12 <= copy.length; ) {
    const end = at + 12 + copy.readUInt32BE(at);
    if (end > copy.length) break;
    copy.writeUInt32BE(crc32(copy.subarray(at + 4, end - 4)), end - 4);
    at = end;
  }
  return copy;
};

/** One to four changes on top of each other, with checksums that fit in half of the files. */
export function mutateImage(images: readonly Buffer[], seed: number): Buffer {
  const pick = createSeededRandom(seed);
  let bytes = images[pick(images.length)]!;
  for (let left = 1 + pick(4); left > 0; left--) {
    bytes = mutations[pick(mutations.length)]!(bytes, pick, images[pick(images.length)]!);
  }
  return pick(2) === 0 ? bytes : fixPngChecksums(bytes);
}
