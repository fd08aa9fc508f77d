// A valid MP4 of any size, without holding it: the test video with a box of padding before its index, so that readers
// must seek. Its bytes are the same every time.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createTestVideo } from "../fake-vendors/result-files.ts";
import { createSeededRandom } from "./seeded-random.ts";

const BLOCK_BYTES = 1024 * 1024;

export type LongVideo = {
  sizeBytes: number;
  chunks(): AsyncGenerator<Uint8Array>;
  /** The SHA-256 of the whole file. */
  hash(): Promise<string>;
};

/** `sizeBytes`: at least this much. */
export async function createLongVideo(sizeBytes: number): Promise<LongVideo> {
  const video = await createTestVideo();
  const index = findBox(video, "moov");
  const paddingBytes = Math.max(0, sizeBytes - video.byteLength);
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1, 0);
  header.write("free", 4, "latin1");
  header.writeBigUInt64BE(BigInt(16 + paddingBytes), 8);
  const random = createSeededRandom(7);
  const block = Buffer.from(Array.from({ length: 4096 }, () => random(256)));
  const padding = Buffer.alloc(BLOCK_BYTES, block);
  const chunks = async function* () {
    yield Buffer.concat([video.subarray(0, index), header]);
    for (let left = paddingBytes; left > 0; left -= BLOCK_BYTES) yield padding.subarray(0, Math.min(left, BLOCK_BYTES));
    yield video.subarray(index);
  };
  return {
    sizeBytes: video.byteLength + 16 + paddingBytes,
    chunks,
    async hash() {
      const hash = createHash("sha256");
      for await (const chunk of chunks()) hash.update(chunk);
      return hash.digest("hex");
    },
  };
}

/** Where a box of the top level begins. */
function findBox(video: Buffer, type: string): number {
  for (let start = 0; start < video.byteLength; start += video.readUInt32BE(start))
    if (video.toString("latin1", start + 4, start + 8) === type) return start;
  throw new Error(`the video has no box ${type}`);
}

/** Serves the video at every path. `isChunked`: without its length. */
export async function serveVideo(video: LongVideo, { isChunked = false } = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    response.writeHead(200, {
      "content-type": "video/mp4",
      ...(!isChunked && { "content-length": String(video.sizeBytes) }),
    });
    Readable.from(video.chunks())
      .on("error", () => response.destroy())
      .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
