// What else an image file carries is not stored: known malware, text and other formats.
import { deflateSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { createDecoderPool } from "../../src/files/images/decoder-pool.ts";
import { createImageDecoder } from "../../src/files/images/image-decoder.ts";
import { findLibraryProblem } from "../../src/files/images/library-version.ts";
import { pngChunk, pngWith } from "../corpora/image-bytes.ts";
import { validImages } from "../corpora/valid-images.ts";

const decoders = createDecoderPool({ count: 1, megabytes: 1024, seconds: 20 });
const images = createImageDecoder(decoders);
afterAll(decoders.close);

/** The test file of virus scanners, in two parts, so that no scanner reports this source file. */
const EICAR = ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-", "ANTIVIRUS-TEST-FILE!$H+H*"].join("");

it("malware in the text, a comment or the end of an image is absent from the stored object", async () => {
  const { png, jpeg, webp } = validImages;
  const text = Buffer.from(`Comment\0${EICAR}`, "latin1");
  const packed = Buffer.concat([Buffer.from("Comment\0\0", "latin1"), deflateSync(EICAR)]);
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, EICAR.length + 2]), Buffer.from(EICAR)]);
  const carriers = [
    pngWith(png, pngChunk("tEXt", text)),
    pngWith(png, pngChunk("zTXt", packed)),
    pngWith(png, pngChunk("prVt", text)),
    Buffer.concat([png, Buffer.from(EICAR)]),
    Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]),
    Buffer.concat([jpeg, Buffer.from(EICAR)]),
    Buffer.concat([webp, Buffer.from(EICAR)]),
  ];
  expect(carriers.filter((bytes) => bytes.includes(EICAR) || bytes.includes(deflateSync(EICAR)))).toHaveLength(7);
  for (const bytes of carriers) {
    const stored = Buffer.from((await images.normalize(bytes)).bytes);
    expect([stored.includes(EICAR), stored.includes(deflateSync(EICAR))]).toEqual([false, false]);
  }
});

it("the decoding library in use is one that the server starts with", async () => {
  const { libraries } = (await decoders.sandboxStatus())!;
  expect(libraries).toMatch(/^\d+\.\d+/);
  expect(findLibraryProblem(libraries)).toBeUndefined();
});
