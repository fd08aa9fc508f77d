// The COSE signature of a C2PA claim: what has to be signed, and the finished structure at a size that is known before.
import type { SigningAlgorithm } from "../signing-algorithms.ts";

type CborValue = number | string | Uint8Array | null | CborValue[] | Map<CborValue, CborValue>;

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 };
const NULL = Buffer.from([0xf6]);

/** Encodes the few CBOR types that a COSE signature consists of, in the shortest form. */
function encodeCbor(value: CborValue): Buffer {
  if (value === null) return NULL;
  if (typeof value === "number") return value < 0 ? head(MAJOR.negative, -1 - value) : head(MAJOR.unsigned, value);
  if (typeof value === "string") {
    const text = Buffer.from(value, "utf8");
    return Buffer.concat([head(MAJOR.text, text.byteLength), text]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(MAJOR.bytes, value.byteLength), value]);
  if (Array.isArray(value)) return Buffer.concat([head(MAJOR.array, value.length), ...value.map(encodeCbor)]);
  return Buffer.concat([
    head(MAJOR.map, value.size),
    ...[...value].flat().map((each) => encodeCbor(each as CborValue)),
  ]);
}

function head(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 0x100) return Buffer.from([type | 24, argument]);
  const isShort = argument < 0x10000;
  const bytes = Buffer.alloc(isShort ? 3 : 5);
  bytes[0] = type | (isShort ? 25 : 26);
  if (isShort) bytes.writeUInt16BE(argument, 1);
  else bytes.writeUInt32BE(argument, 1);
  return bytes;
}

/** Registered numbers of COSE. */
const ALGORITHMS: Record<SigningAlgorithm, number> = { es256: -7, es384: -35, ps256: -37, ed25519: -8 };
const SIGNATURE_BYTES: Record<SigningAlgorithm, number> = { es256: 64, es384: 96, ps256: 512, ed25519: 64 };
const HEADER = { algorithm: 1, certificates: 33 };
const TAG_SIGN1 = Buffer.from([0xd2]);
/** Room for the padding itself, whose length has a length. */
const MARGIN_BYTES = 32;

/** `certificates`: in DER, the one of the signer first. */
export type CoseSigner = { algorithm: SigningAlgorithm; certificates: Uint8Array[] };

const protectedHeader = ({ algorithm, certificates }: CoseSigner) =>
  encodeCbor(
    new Map<number, number | Uint8Array[]>([
      [HEADER.algorithm, ALGORITHMS[algorithm]],
      [HEADER.certificates, certificates],
    ]),
  );

/** The size of the finished structure. It is part of the manifest before the signature exists. */
export const reservedBytes = (signer: CoseSigner): number =>
  protectedHeader(signer).byteLength + SIGNATURE_BYTES[signer.algorithm] + MARGIN_BYTES;

export const bytesToSign = (signer: CoseSigner, payload: Uint8Array): Uint8Array =>
  encodeCbor(["Signature1", protectedHeader(signer), new Uint8Array(), payload]);

/** Pads the structure to the reserved size. Throws for a signature that does not fit. */
export function buildCoseSignature(signer: CoseSigner, signature: Uint8Array): Uint8Array {
  const size = reservedBytes(signer);
  const build = (padding: number) =>
    Buffer.concat([
      TAG_SIGN1,
      encodeCbor([protectedHeader(signer), new Map([["pad", new Uint8Array(padding)]]), null, signature]),
    ]);
  for (let padding = size - build(0).byteLength, left = 8; padding >= 0 && left > 0; left--) {
    const built = build(padding);
    if (built.byteLength === size) return built;
    padding += size - built.byteLength;
  }
  throw new Error(`a signature of ${signature.byteLength} bytes does not fit`);
}
