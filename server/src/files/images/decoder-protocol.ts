// Messages between the server and a decoder process: a JSON header, then bytes. Replies are untrusted, because a
// malicious image could have taken over the decoder.

export type DecoderMessage = { header: Record<string, unknown>; bytes: Uint8Array };

const PREFIX_BYTES = 8;
const MAX_HEADER_BYTES = 64 * 1024;

export const encodeDecoderMessage = ({
  header,
  bytes,
}: DecoderMessage): [prefixAndHeader: Buffer, bytes: Uint8Array] => {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(json.byteLength, 0);
  prefix.writeUInt32LE(bytes.byteLength, 4);
  return [Buffer.concat([prefix, json]), bytes];
};

/** Throws for a malformed or too large message; ends with the stream. */
export async function* readDecoderMessages(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<DecoderMessage> {
  const held = createChunkBuffer();
  let lengths: { header: number; bytes: number } | undefined;
  for await (const chunk of stream) {
    held.add(chunk);
    for (;;) {
      if (!lengths && held.size() >= PREFIX_BYTES) lengths = readPrefix(held.take(PREFIX_BYTES), maxBytes);
      if (!lengths || held.size() < lengths.header + lengths.bytes) break;
      const header = parseHeader(held.take(lengths.header));
      yield { header, bytes: held.take(lengths.bytes) };
      lengths = undefined;
    }
  }
}

const readPrefix = (prefix: Buffer, maxBytes: number) => {
  const [header, bytes] = [prefix.readUInt32LE(0), prefix.readUInt32LE(4)];
  if (header > MAX_HEADER_BYTES || bytes > maxBytes) throw new Error("a decoder message is too large");
  return { header, bytes };
};

const parseHeader = (json: Buffer): DecoderMessage["header"] => {
  const header: unknown = JSON.parse(json.toString());
  if (typeof header !== "object" || header === null) throw new Error("a decoder message has no header");
  return header as DecoderMessage["header"];
};

/** Buffers chunks until enough bytes have arrived. Each byte is copied once, whatever the number of chunks. */
const createChunkBuffer = () => {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    add: (chunk: Uint8Array) => {
      chunks.push(chunk);
      size += chunk.byteLength;
    },
    take: (count: number): Buffer => {
      const all =
        chunks.length === 1 ? Buffer.from(chunks[0]!.buffer, chunks[0]!.byteOffset, size) : Buffer.concat(chunks);
      chunks = size > count ? [all.subarray(count)] : [];
      size -= count;
      return all.subarray(0, count);
    },
  };
};
