// Conformance: the limits of files, bodies, trees and waiting.
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { ENDLESS_PROMPT, expectAccepted, expectNoNewRun } from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { envelopeSuccess } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const MIB = 1024 * 1024;

/** Started first and checked last, so that its minute runs in parallel. */
let longWait: Promise<{ answer: ApiResponse; seconds: number; canceled: ApiResponse }>;
beforeAll(() => {
  const begun = Date.now();
  longWait = suite.caller
    .generate({ prompt: "[sandbox:delay=90] slow", width: 64, height: 64, sync: true })
    .then(async (answer) => {
      const seconds = (Date.now() - begun) / 1000;
      // At once: when the test reads the answer, the run may have ended.
      return { answer, seconds, canceled: await suite.caller.post(`/runs/${answer.body.run_id}/cancel`) };
    });
});

const flat = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "teal" }, limitInputPixels: false })
    .png({ compressionLevel: 9 })
    .toBuffer();

/** An image that does not compress, as a PNG of exactly so many bytes; the rest is filled with a text chunk. */
async function noise(side: number, bytes: number): Promise<Buffer> {
  const raw = randomBytes(side * side * 3);
  const png = await sharp(raw, { raw: { width: side, height: side, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const space = bytes - png.length - 12;
  expect(space).toBeGreaterThan(0);
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from("tEXt"), Buffer.alloc(space, "x"), Buffer.alloc(4)]);
  chunk.writeUInt32BE(space, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  const end = png.length - 12;
  return Buffer.concat([png.subarray(0, end), chunk, png.subarray(end)]);
}

const upload = (bytes: Buffer) => suite.caller.post("/upload", suite.form({ file: bytes }));
const refused = (bytes: Buffer) => expectNoNewRun(suite, () => upload(bytes));

async function expectKept(bytes: Buffer, size: [number, number]): Promise<void> {
  const response = await upload(bytes);
  expect([response.status, response.body.success]).toEqual([201, true]);
  const { outputs } = (await suite.caller.get(`/runs/${response.body.data.run_id}`)).body;
  expect([outputs[0].width, outputs[0].height]).toEqual(size);
}

describe("uploads", () => {
  it("[LIM-038] may have 25 MiB and not a byte more", async () => {
    const most = 26_214_400;
    const bytes = await noise(2900, most);
    expect(bytes).toHaveLength(most);
    await expectKept(bytes, [2900, 2900]);
    const response = await refused(await noise(2900, most + 1));
    expect([response.status, response.body.code, envelopeSuccess(response)]).toEqual([413, "payload_too_large", false]);
  });

  const image = async () => sharp(await drawScene());
  const bmp = () => {
    const file = Buffer.alloc(54 + 32 * 32 * 3, 0x7f);
    file.write("BM", 0, "latin1");
    for (const [at, value] of [
      [2, file.length],
      [6, 0],
      [10, 54],
      [14, 40],
      [18, 32],
      [22, 32],
      [30, 0],
      [34, 3072],
    ]) {
      file.writeUInt32LE(value!, at!);
    }
    file.writeUInt16LE(1, 26);
    file.writeUInt16LE(24, 28);
    for (const at of [38, 42, 46, 50]) file.writeUInt32LE(0, at);
    return file;
  };
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64"/></svg>';

  it.each<[string, () => Promise<Buffer>]>([
    ["JPEG", async () => (await image()).jpeg().toBuffer()],
    ["PNG", async () => (await image()).png().toBuffer()],
    ["WebP", async () => (await image()).webp().toBuffer()],
  ])("[LIM-039] are taken as %s", async (_kind, make) => {
    await expectKept(await make(), [128, 96]);
  });

  it.each<[string, () => Promise<Buffer>]>([
    ["GIF", async () => (await image()).gif().toBuffer()],
    ["BMP", async () => bmp()],
    ["TIFF", async () => (await image()).tiff().toBuffer()],
    ["SVG", async () => Buffer.from(svg)],
    ["AVIF", async () => (await image()).avif({ effort: 0 }).toBuffer()],
    ["PDF", async () => Buffer.from("%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")],
  ])("[LIM-039] are refused as %s", async (_kind, make) => {
    const response = await refused(await make());
    expect([response.status, response.body.code, envelopeSuccess(response)]).toEqual([
      415,
      "unsupported_image_format",
      false,
    ]);
  });

  it.each<[string, string, [number, number], [number, number][], string]>([
    [
      "LIM-040",
      "16 x 16",
      [16, 16],
      [
        [15, 16],
        [16, 15],
      ],
      "image_too_small",
    ],
    [
      "LIM-041",
      "16,384 x 16",
      [16_384, 16],
      [
        [16_385, 16],
        [16, 16_385],
      ],
      "image_too_many_pixels",
    ],
    ["LIM-042", "10,000 x 5,000", [10_000, 5000], [[10_000, 5001]], "image_too_many_pixels"],
  ])("[%s] are taken with %s pixels and refused beyond", async (_id, _says, fits, errors, code) => {
    await expectKept(await flat(...fits), fits);
    for (const size of errors) {
      const response = await refused(await flat(...size));
      expect([response.status, response.body.code, envelopeSuccess(response)]).toEqual([422, code, false]);
    }
  });
});

describe("JSON bodies", () => {
  const padded = (body: object, bytes: number) => JSON.stringify(body).padEnd(bytes, " ");

  it.each([
    ["/runs/generate", () => ({ prompt: ENDLESS_PROMPT })],
    ["/edits/vendora", () => ({ prompt: ENDLESS_PROMPT, image_url: suite.imageUrl() })],
  ])("[LIM-043] without an image may have 1 MiB at %s, and not a byte more", async (path, body) => {
    await expectAccepted(suite, path, padded(body(), MIB));
    const response = await expectNoNewRun(suite, () => suite.caller.post(path, padded(body(), MIB + 1)));
    expect([response.status, response.body.code]).toEqual([413, "payload_too_large"]);
  });

  it("[LIM-043] of 1 MiB are rejected for their content, not for their size", async () => {
    const body = { prompt: "x", note: "x".repeat(MIB - JSON.stringify({ prompt: "x", note: "" }).length) };
    expect(JSON.stringify(body)).toHaveLength(MIB);
    const response = await expectNoNewRun(suite, () => suite.caller.generate(body));
    expect([response.status, response.body.details.errors[0].code]).toEqual([400, "unknown_field"]);
  });

  it("[LIM-044] with an image in base64 may have more than 1 MiB, and at most 35 MiB", async () => {
    for (const bytes of [2 * MIB, 25 * MIB]) {
      const image_url = `data:image/png;base64,${(await noise(bytes > 3 * MIB ? 2900 : 800, bytes)).toString("base64")}`;
      const body = JSON.stringify({ prompt: ENDLESS_PROMPT, image_url });
      expect(body.length).toBeGreaterThan(MIB);
      expect(body.length).toBeLessThan(35 * MIB);
      await expectAccepted(suite, "/edits/vendora", body);
    }
    const image_url = (await noise(2900, 27 * MIB)).toString("base64");
    const body = JSON.stringify({ prompt: "x", image_url });
    expect(body.length).toBeGreaterThan(35 * MIB);
    const response = await expectNoNewRun(suite, () => suite.caller.post("/edits/vendora", body));
    expect([response.status, response.body.code]).toEqual([413, "payload_too_large"]);
  });
});

describe("trees and waiting", () => {
  it("[LIM-045] a chain of runs may have 64 levels, and no operation adds another", async () => {
    let deepest = await suite.uploadImage();
    for (let level = 2; level <= 63; level++) deepest = await suite.uploadImage(undefined, { parent_id: deepest });
    const below = { prompt: ENDLESS_PROMPT, run_id: deepest };
    await expectAccepted(suite, "/edits/vendora", below);
    const upload = await suite.caller.post("/upload", suite.form({ file: await drawScene(), parent_id: deepest }));
    const last = upload.body.data.run_id;
    expect(last).toMatch(/^[0-9a-f-]{36}$/);
    for (const [path, body] of [
      ["/upload", suite.form({ file: await drawScene(), parent_id: last })],
      ["/edits/vendora", { prompt: "x", run_id: last }],
      ["/edits/segment", { prompt: "x", run_id: last }],
      ["/edits/flux-kontext", { prompt: "x", original_run_id: last, model: "flux-kontext-max" }],
      ["/runs/video", { prompt: "x", source_run_id: last }],
    ] as const) {
      const response = await expectNoNewRun(suite, () => suite.caller.post(path, body));
      expect([path, response.status, response.body.code]).toEqual([path, 422, "tree_too_deep"]);
    }
  });

  it("[LIM-046] a synchronous call waits at most 55 s: a longer run is then returned in its current state", async () => {
    const { answer: response, seconds, canceled } = await longWait;
    expect([response.status, response.body.image_url]).toEqual([202, null]);
    expect(["queued", "processing"]).toContain(response.body.status);
    expect(seconds).toBeGreaterThan(53);
    expect(canceled.status).toBe(202);
  });
});
