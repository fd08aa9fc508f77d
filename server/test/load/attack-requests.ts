// The requests of the attack campaign, built once before they are sent, so that the attacker needs little of the CPU
// that it shares with the service.
import sharp from "sharp";
import { createUploadCorpus } from "../corpora/uploads.ts";

export type AttackRequest = { method: "GET" | "POST"; path: string; type: string; body: Buffer };

const MEGABYTE = 1024 * 1024;
const BOUNDARY = "----attack";

const asJson = (path: string, text: string): AttackRequest => ({
  ...{ method: "POST", path: `/api/v1${path}`, type: "application/json", body: Buffer.from(text) },
});

const unknownFields = (count: number) =>
  `{"prompt":"x",${Array.from({ length: count }, (_, n) => `"field_${n}":${n}`).join(",")}}`;
const nested = (levels: number) => `{"prompt":"x","metadata":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
const repeated = (text: string, count: number) => Array.from({ length: count }, () => text).join(",");

/** More values than a body may have, and just as many as it may have. */
export const wideBodies = (): AttackRequest[] => [
  asJson("/runs/generate", unknownFields(60_000)),
  asJson("/runs/generate", unknownFields(19_900)),
  asJson("/combine", `{"images":[${repeated('"not an image"', 19_900)}]}`),
  asJson("/runs/reference", `{"prompt":"x","images":[${repeated('{"tag":1,"image_reference":2}', 6600)}]}`),
  asJson("/runs/generate", `{"prompt":"x","metadata":{"a":[${repeated("1", 19_900)}]}}`),
];

export const deepBodies = (): AttackRequest[] => [
  asJson("/runs/generate", nested(300_000)),
  asJson("/runs/generate", nested(19_900)),
  asJson("/runs/generate", `{"prompt":"x","metadata":${'{"a":'.repeat(9900)}1${"}".repeat(9900)}}`),
  asJson("/runs/generate", `{"prompt":"x","metadata":{"a":[${repeated(`${"[".repeat(29)}${"]".repeat(29)}`, 650)}]}}`),
];

/** The longest inline image, which is none; the longest text; and bodies over the limit. */
export const hugeBodies = (): AttackRequest[] => [
  asJson("/edits/upscale", `{"image":"data:image/png;base64,${"A".repeat(34 * MEGABYTE)}"}`),
  asJson("/edits/upscale", `{"image":"${"x".repeat(34 * MEGABYTE)}"}`),
  asJson("/runs/generate", `{"prompt":"${"x".repeat(MEGABYTE - 100)}"}`),
  asJson("/runs/generate", `{"prompt":"${"\\u0041".repeat(MEGABYTE / 6 - 100)}"}`),
  asJson("/runs/generate", `{"prompt":"${"x".repeat(36 * MEGABYTE)}"}`),
];

/** The decompression bombs of the upload corpus, and the largest image that is accepted. */
export async function decoderBombs(): Promise<AttackRequest[]> {
  const bombs = (await createUploadCorpus()).filter(({ group }) => group === "bombs").map(({ bytes }) => bytes);
  const largest = sharp({ create: { width: 7000, height: 7000, channels: 3, background: "teal" } });
  return [...bombs, await largest.jpeg({ progressive: true }).withMetadata({ orientation: 6 }).toBuffer()].map(
    asUpload,
  );
}

/** An image that is large as a file: noise. */
export async function largeUpload(): Promise<AttackRequest> {
  const noise = { type: "gaussian" as const, mean: 128, sigma: 60 };
  const image = sharp({ create: { width: 2600, height: 2600, channels: 3, background: "grey", noise } });
  return asUpload(await image.png({ compressionLevel: 0 }).toBuffer());
}

const asUpload = (bytes: Buffer): AttackRequest => {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  return { method: "POST", path: "/api/v1/upload", type: `multipart/form-data; boundary=${BOUNDARY}`, body };
};
