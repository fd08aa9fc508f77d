// Encodes the few CBOR types that a COSE signature consists of, in the shortest form.

export type CborValue = number | string | Uint8Array | null | CborValue[] | Map<CborValue, CborValue>;

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 };
const NULL = Buffer.from([0xf6]);

export function encodeCbor(value: CborValue): Buffer {
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
