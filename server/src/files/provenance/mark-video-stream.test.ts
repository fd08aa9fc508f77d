import { expect, test } from "vitest";
import { createTestVideo } from "../../../test/fake-vendors/result-files.ts";
import { DIGITAL_SOURCE_TYPES } from "./digital-source-type.ts";
import { markFile, readFileParts } from "./mark-file.ts";
import { markVideoStream } from "./mark-video-stream.ts";
import { sha256 } from "./sha256.ts";

const MARK = {
  run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d",
  asset_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4e",
  digitalSourceType: DIGITAL_SOURCE_TYPES.generated,
};
const box = (type: string, content: Uint8Array = Buffer.alloc(0), size = 8 + content.byteLength) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
};
const largeBox = (type: string, content: Uint8Array) => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(16 + content.byteLength));
  return box(type, Buffer.concat([size, content]), 1);
};
const manifestBox = (store: string) =>
  box(
    "uuid",
    Buffer.concat([
      Buffer.from("d8fec3d61b0e483c92975828877ec481", "hex"),
      Buffer.alloc(4),
      Buffer.from("manifest\0"),
      Buffer.alloc(8),
      Buffer.from(store),
    ]),
  );

async function streamThrough(bytes: Uint8Array, chunkBytes: number) {
  const chunks = async function* () {
    for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
  const marked = markVideoStream(chunks(), MARK);
  const passed: Uint8Array[] = [];
  for await (const chunk of marked.chunks) passed.push(chunk);
  return { bytes: Buffer.concat(passed), provenance: marked.provenance() };
}

/** One byte at a time, sizes that cut headers in two, and all at once. */
const CHUNK_SIZES = [1, 7, 24, 1000, 1e9];

test("a video has the same bytes whether it is marked as a stream or as a whole, however it is cut into chunks", async () => {
  const video = await createTestVideo();
  const long = Buffer.concat([video, largeBox("free", Buffer.alloc(5000, 7)), box("free", Buffer.alloc(10))]);
  for (const file of [video, long]) {
    const whole = markFile(readFileParts(file, "video/mp4"), file, MARK);
    for (const size of CHUNK_SIZES) {
      const { bytes, provenance } = await streamThrough(file, size);
      expect(bytes.equals(whole.bytes)).toBe(true);
      expect(provenance).toEqual({ status: "marked", digital_source_type: MARK.digitalSourceType });
    }
    // A video that has a mark keeps it.
    const again = await streamThrough(whole.bytes, 100);
    expect(again.bytes.equals(whole.bytes)).toBe(true);
    expect(again.provenance?.status).toBe("marked");
  }
});

test("a video with the manifest of its provider passes unchanged, and the manifest is named by its hash", async () => {
  const video = Buffer.concat([await createTestVideo(), manifestBox("the store")]);
  const manifest_hash = sha256(Buffer.from("the store"));
  expect(readFileParts(video, "video/mp4")?.manifest).toEqual(Buffer.from("the store"));
  for (const size of CHUNK_SIZES) {
    const { bytes, provenance } = await streamThrough(video, size);
    expect(bytes.equals(video)).toBe(true);
    expect(provenance).toMatchObject({ status: "received", manifest_hash });
  }
});

test("a video that cannot be marked while it passes is stored as it is, without a claim", async () => {
  const video = await createTestVideo();
  const unmarkable = {
    "a last box that reaches to the end of the file": Buffer.concat([video, box("free", Buffer.alloc(9), 0)]),
    "a box that is cut off": Buffer.concat([video, box("free", Buffer.alloc(9), 100)]),
    "half a header": Buffer.concat([video, Buffer.from([0, 0, 0])]),
    "a box that is smaller than its header": Buffer.concat([video, box("free", Buffer.alloc(9), 3)]),
    "half a large size": Buffer.concat([video, box("free", Buffer.alloc(3), 1)]),
  };
  for (const file of Object.values(unmarkable)) {
    for (const size of CHUNK_SIZES) {
      const { bytes, provenance } = await streamThrough(file, size);
      expect(bytes.equals(file)).toBe(true);
      expect(provenance).toBeUndefined();
    }
  }
});
