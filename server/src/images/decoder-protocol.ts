// What passes between us and a process that decodes: a few words as JSON, then bytes. Nothing of it is run or trusted,
// because whoever has broken into a decoder may write what they like.

export type DecoderMessage = { says: Record<string, unknown>; bytes: Uint8Array };

const headBytes = 8;
const mostWords = 64 * 1024;

export const encodeDecoderMessage = ({ says, bytes }: DecoderMessage): [head: Buffer, bytes: Uint8Array] => {
  const words = Buffer.from(JSON.stringify(says));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(words.byteLength, 0);
  head.writeUInt32LE(bytes.byteLength, 4);
  return [Buffer.concat([head, words]), bytes];
};

/** Throws for what is no frame or too large a one; ends when the stream does. */
export async function* readDecoderMessages(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<DecoderMessage> {
  const held = createChunkBuffer();
  let head: { words: number; bytes: number } | undefined;
  for await (const chunk of stream) {
    held.add(chunk);
    for (;;) {
      if (!head && held.size() >= headBytes) head = readHead(held.take(headBytes), mostBytes);
      if (!head || held.size() < head.words + head.bytes) break;
      const says = readWords(held.take(head.words));
      yield { says, bytes: held.take(head.bytes) };
      head = undefined;
    }
  }
}

const readHead = (head: Buffer, mostBytes: number) => {
  const [words, bytes] = [head.readUInt32LE(0), head.readUInt32LE(4)];
  if (words > mostWords || bytes > mostBytes) throw new Error("a frame is too large");
  return { words, bytes };
};

const readWords = (words: Buffer): DecoderMessage["says"] => {
  const says: unknown = JSON.parse(words.toString());
  if (typeof says !== "object" || says === null) throw new Error("a frame says nothing");
  return says as DecoderMessage["says"];
};

/** Chunks that wait until there are enough of them; each byte is copied once, however many chunks a picture comes in. */
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
