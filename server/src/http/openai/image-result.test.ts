import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { encodeBase64 } from "./image-result.ts";

const encodePieces = async (pieces: Uint8Array[]): Promise<string> => {
  const encoded: Uint8Array[] = [];
  for await (const piece of encodeBase64(Readable.from(pieces))) encoded.push(piece);
  return Buffer.concat(encoded).toString();
};

it("encodes pieces of every length as if they were one", async () => {
  for (let first = 0; first <= 8; first++)
    for (let second = 0; second <= 8; second++)
      for (let third = 0; third <= 8; third++) {
        const pieces = [first, second, third].map((length) => new Uint8Array(randomBytes(length)));
        expect(await encodePieces(pieces), `${first}, ${second}, ${third}`).toBe(
          Buffer.concat(pieces).toString("base64"),
        );
      }
});

it("encodes a file that arrives byte by byte", async () => {
  const bytes = randomBytes(1000);
  expect(await encodePieces([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(bytes.toString("base64"));
});

it("writes nothing for no bytes", async () => {
  expect(await encodePieces([])).toBe("");
});
