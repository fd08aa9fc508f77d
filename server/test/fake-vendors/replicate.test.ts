// The fake Replicate, used by Replicate's own client and by the library for its signatures.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Replicate, { type Prediction, validateWebhook } from "replicate";
import sharp from "sharp";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeReplicate } from "./replicate.ts";
import { createImageAsset, createMaskAsset } from "./sample-jobs.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeReplicate.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", workMs: 50, refuse: undefined, retired: [] });
});

const client = (auth = fakeReplicate.env(fakeVendor).REPLICATE_API_TOKEN!) =>
  new Replicate({ auth, baseUrl: `${fakeVendor.url}/v1`, useFileOutput: false });

/** The client creates files from https URLs only; the plain URLs of the fake vendor are returned unchanged. */
const bytesAt = async (url: unknown) => new Uint8Array(await (await fetch(String(url))).arrayBuffer());
const blobOf = async (asset: { bytes(): Promise<Uint8Array> }) =>
  new Blob([new Uint8Array(await asset.bytes())], { type: "image/png" });

describe("the client", () => {
  it("runs a model and gets its images, in the requested number and shape", async () => {
    const input = { prompt: "a red bicycle", num_outputs: 2, aspect_ratio: "16:9" };
    const output = (await client().run("black-forest-labs/flux-dev", { input })) as unknown as string[];
    expect(output).toHaveLength(2);
    const { width, height, format } = await sharp(await bytesAt(output[0])).metadata();
    expect([width, height, format]).toEqual([96, 54, "png"]);
  });

  it("uploads files, and waits by polling", async () => {
    const input = { prompt: "make it night", input_image: await blobOf(createImageAsset("desk")) };
    const prediction = await client().predictions.create({ model: "black-forest-labs/flux-kontext-max", input });
    expect(prediction.status).toBe("starting");
    const ended = await client().wait(prediction, { interval: 20 });
    expect(ended).toMatchObject({ status: "succeeded", output: expect.stringContaining("/files/") });
    const { input_image } = fakeVendor.ledger.at(-1)!.request.input as { input_image: string };
    expect(input_image.startsWith(`${fakeVendor.url}/v1/files/`)).toBe(true);
  });

  it("cancels, lists newest first and reads models", async () => {
    fakeVendor.switches.workMs = 60_000;
    const prediction = await client().predictions.create({ model: "google/imagen-4", input: { prompt: "a lake" } });
    expect(await client().predictions.cancel(prediction.id)).toMatchObject({ status: "canceled" });
    const { results } = await client().predictions.list();
    expect(results[0]).toMatchObject({ id: prediction.id, model: "google/imagen-4", status: "canceled" });
    expect(await client().models.get("luma", "reframe-image")).toMatchObject({ owner: "luma", is_official: true });
    expect(await client().accounts.current()).toMatchObject({ username: "fake" });
  });

  it("runs models without their own route by version", async () => {
    const { latest_version } = await client().models.get("mattsays", "sam3-image");
    const input = { image: await blobOf(createImageAsset("shapes", 80, 40)), prompt: "the circle", return_zip: false };
    const output = await client().run(`mattsays/sam3-image:${latest_version!.id}`, { input });
    const { width, height } = await sharp(await bytesAt(output)).metadata();
    expect([width, height]).toEqual([80, 40]);
  });

  it("reports errors with the vendor's messages", async () => {
    const dev = "black-forest-labs/flux-dev";
    await expect(client().run(dev, { input: { prompt: "x", steps: 4 } })).rejects.toThrow(/422.*Unrecognized key/s);
    await expect(client("wrong").run(dev, { input: { prompt: "x" } })).rejects.toThrow(/401/);
    await expect(client().run("nobody/nothing", { input: { prompt: "x" } })).rejects.toThrow(/404/);
    await expect(client().run(dev, { input: { prompt: "forbidden" } })).rejects.toThrow(/flagged as sensitive.*E005/);
    fakeVendor.switches.outcome = "failed";
    await expect(client().run(dev, { input: { prompt: "x" } })).rejects.toThrow(/Prediction failed: CUDA/);
  });

  it("finds the data deleted after an hour", async () => {
    const prediction = await client().predictions.create({ model: "google/imagen-4", input: { prompt: "a lake" } });
    fakeVendor.ledger.at(-1)!.endsAt -= 2 * 3_600_000;
    expect(await client().predictions.get(prediction.id)).toMatchObject({
      data_removed: true,
      output: null,
      input: {},
    });
  });
});

it("repaints the black area of a mask for one model, and the white area for another", async () => {
  const [image, mask] = [await blobOf(createImageAsset("desk")), await blobOf(createMaskAsset())];
  const middleAndCorner = async (url: unknown) => {
    const { data, info } = await sharp(await bytesAt(url))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) =>
      data
        .subarray((y * info.width + x) * info.channels)
        .subarray(0, 3)
        .join();
    return [at(32, 32), at(1, 1)];
  };
  const [before] = await middleAndCorner(
    `data:image/png;base64,${Buffer.from(await image.arrayBuffer()).toString("base64")}`,
  );
  const fill = await client().run("bria/genfill", { input: { image, mask, prompt: "a plant" } });
  const [filledMiddle, filledCorner] = await middleAndCorner(fill);
  expect([filledMiddle === before, filledCorner === before]).toEqual([false, true]);
  const input = { prompt: "a hero", character_reference_image: image, image, mask };
  const [heroMiddle, heroCorner] = await middleAndCorner(
    await client().run("ideogram-ai/ideogram-character", { input }),
  );
  expect([heroMiddle === before, heroCorner === before]).toEqual([true, false]);
});

describe("callbacks", () => {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const ear = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
    response.end("{}");
  });
  beforeAll(() => new Promise<void>((listening) => ear.listen(0, "127.0.0.1", listening)));
  afterAll(() => new Promise<void>((closed) => ear.close(() => closed())));

  it("have a signature that the vendor's client and the library of the standard accept", async () => {
    const webhook = `http://127.0.0.1:${(ear.address() as AddressInfo).port}/callbacks/1`;
    const prediction = await client().predictions.create({
      model: "google/imagen-4",
      input: { prompt: "a lake" },
      webhook,
      webhook_events_filter: ["completed"],
    });
    await expect.poll(() => received.length).toBe(1);
    const [{ headers, body }] = received as [(typeof received)[number]];
    expect(JSON.parse(body)).toMatchObject({
      id: prediction.id,
      status: "succeeded",
      webhook,
    } satisfies Partial<Prediction>);
    const { key } = await client().webhooks.default.secret.get();
    const output = {
      id: headers["webhook-id"]!,
      timestamp: headers["webhook-timestamp"]!,
      signature: headers["webhook-signature"]!,
    };
    expect(await validateWebhook({ ...output, body, secret: key })).toBe(true);
    expect(new Webhook(key).verify(body, headers)).toMatchObject({ id: prediction.id });
    expect(() => new Webhook(key).verify(`${body} `, headers)).toThrow();
  });

  it("are not sent to a plain http URL on the internet", async () => {
    const input = { model: "google/imagen-4", input: { prompt: "a lake" }, webhook: "http://example.com/callback" };
    await expect(client().predictions.create(input)).rejects.toThrow(/422/);
  });
});
