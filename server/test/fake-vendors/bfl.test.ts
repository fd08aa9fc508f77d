// The fake Black Forest Labs, tested with a third-party client for the real API. That client does not support moderated
// responses or webhooks; those are tested by hand.
import { createBlackForestLabs } from "@ai-sdk/black-forest-labs";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fakeBfl } from "./bfl.ts";
import type { FakeVendor } from "./fake-vendor.ts";
import { createImageAsset, createMaskAsset } from "./sample-jobs.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeBfl.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", refuse: undefined });
  fakeVendor.forgetJobs();
});

const key = () => fakeBfl.env(fakeVendor).BFL_API_KEY!;
const client = () =>
  createBlackForestLabs({
    apiKey: key(),
    baseURL: `${fakeVendor.url}/v1`,
    pollIntervalMillis: 10,
    pollTimeoutMillis: 2000,
  });

type Asked = Parameters<ReturnType<ReturnType<typeof client>["image"]>["doGenerate"]>[0];
const input = (more: Partial<Asked>): Asked => ({
  prompt: "a red bicycle",
  n: 1,
  size: undefined,
  aspectRatio: undefined,
  seed: undefined,
  files: undefined,
  mask: undefined,
  providerOptions: {},
  ...more,
});
const file = async (asset: { bytes(): Promise<Uint8Array> }) => ({
  type: "file" as const,
  mediaType: "image/png",
  data: await asset.bytes(),
});
const sizeOf = async (image: unknown) => {
  const { width, height } = await sharp(image as Uint8Array).metadata();
  return [width, height];
};

const post = (model: string, body: unknown, apiKey = key()) =>
  fetch(`${fakeVendor.url}/v1/${model}`, {
    method: "POST",
    headers: { "x-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("a third-party client", () => {
  it("generates an image in the requested shape", async () => {
    const { images } = await client()
      .image("flux-kontext-max")
      .doGenerate(input({ aspectRatio: "16:9", seed: 7 }));
    expect(await sizeOf(images[0])).toEqual([96, 54]);
    expect(fakeVendor.ledger.at(-1)?.request).toEqual({ prompt: "a red bicycle", aspect_ratio: "16:9", seed: 7 });
  });

  it("edits an image, which keeps its shape", async () => {
    const files = [await file(createImageAsset("desk", 80, 40))];
    const { images } = await client().image("flux-kontext-max").doGenerate(input({ files }));
    expect(await sizeOf(images[0])).toEqual([80, 40]);
  });

  it("paints within the white of a mask", async () => {
    const files = [await file(createImageAsset("desk"))];
    const { images } = await client()
      .image("flux-pro-1.0-fill")
      .doGenerate(input({ files, mask: await file(createMaskAsset()) }));
    const after = await sharp(images[0] as Uint8Array)
      .removeAlpha()
      .raw()
      .toBuffer();
    const before = await sharp(await createImageAsset("desk").bytes())
      .removeAlpha()
      .raw()
      .toBuffer();
    const isSame = (x: number, y: number) =>
      [0, 1, 2].every((part) => after[(y * 64 + x) * 3 + part] === before[(y * 64 + x) * 3 + part]);
    const all = Array.from({ length: 64 * 64 }, (_, n) => [n % 64, Math.floor(n / 64)] as const);
    const isMarked = (x: number, y: number) => x >= 16 && x < 48 && y >= 16 && y < 48;
    expect(all.filter(([x, y]) => isSame(x, y) === isMarked(x, y))).toEqual([]);
  });

  it("reports a job that failed", async () => {
    fakeVendor.switches.outcome = "failed";
    await expect(client().image("flux-kontext-max").doGenerate(input({}))).rejects.toThrow("generation failed");
  });

  it("reads what is wrong with a request", async () => {
    const wrong = input({ aspectRatio: "30:9" });
    await expect(client().image("flux-kontext-max").doGenerate(wrong)).rejects.toThrow(/between 21:9 and 9:21/);
  });
});

describe("plain HTTP", () => {
  it("refuses a wrong key with 403, and unknown fields with 422", async () => {
    expect((await post("flux-dev", { prompt: "a" }, "wrong")).status).toBe(403);
    const refused = await post("flux-dev", { prompt: "a", aspect_ratio: "1:1" });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ detail: [{ loc: ["body"] }] });
  });

  it("returns no polling URL if a webhook is requested", async () => {
    const response = await post("flux-dev", { prompt: "a", webhook_url: "http://127.0.0.1:9/none" });
    expect(Object.keys((await response.json()) as object).sort()).toEqual(
      ["cost", "id", "input_mp", "output_mp", "status", "webhook_url"].sort(),
    );
  });

  it("accepts six jobs of Kontext Max at a time", async () => {
    fakeVendor.switches.outcome = "never";
    const responses = await Promise.all(Array.from({ length: 7 }, () => post("flux-kontext-max", { prompt: "a" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 429]);
  });
});
