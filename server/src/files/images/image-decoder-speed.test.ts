import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import { latin1, pngChunk, pngWith } from "../../../test/corpora/image-bytes.ts";
import { createImageDecoder } from "./image-decoder.ts";

const { inspect } = createImageDecoder({
  perform: async () => {
    throw new Error("nothing is decoded here");
  },
});
const flat = sharp({ create: { width: 64, height: 48, channels: 3, background: "teal" } });
const [png, jpeg] = [await flat.clone().png().toBuffer(), await flat.clone().jpeg().toBuffer()];

const packedButBroken = (size: number) => {
  const packed = deflateSync(Buffer.alloc(size));
  packed.writeUInt32BE(1, packed.length - 4);
  return packed;
};

const text = pngChunk("zTXt", Buffer.concat([latin1("n\0\0"), packedButBroken(900_000)]));
const [beginning, end] = [jpeg.subarray(0, -2), jpeg.subarray(-2)];
/** Each would cost many seconds, and everybody else would wait, if its reader took it at its word. */
const files = {
  "two hundred thousand empty chunks": pngWith(
    png,
    Buffer.concat(Array(200_000).fill(pngChunk("tEXt", Buffer.alloc(0)))),
  ),
  "a thousand texts that break at their end": pngWith(png, Buffer.concat(Array(1000).fill(text))),
  "twenty million fill bytes": Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(20_000_000, 0xff), jpeg.subarray(2)]),
  "ten million stuffed bytes": Buffer.concat([beginning, Buffer.alloc(20_000_000, Buffer.from([0xff, 0])), end]),
};

test.each(Object.entries(files))("%s take less than 1.5 s", async (_, bytes) => {
  const before = performance.now();
  await inspect(bytes, { decode: false }).catch((thrown) => expect(thrown.code).toBe("image_undecodable"));
  expect(performance.now() - before).toBeLessThan(1500);
});
