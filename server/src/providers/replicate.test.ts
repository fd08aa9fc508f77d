// The adapter against the fake vendor, over a socket: what is asked of each model, what comes of it, and what each of
// the provider's words means to us.
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { fakeReplicate as kit } from "../../test/fake-vendors/replicate.ts";
import {
  createAsset,
  createImageAsset,
  createMaskAsset,
  createSampleJob,
} from "../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../contract/operation.ts";
import type { Fault } from "../faults/faults.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { readProviderFailure } from "./call-provider.ts";
import type { Asset, Offer, ProviderContext, Ticket } from "./provider.ts";
import { replicate } from "./replicate.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  const quiet = { outcome: "done", workMs: 50, refuse: undefined, drop: undefined, retired: [], callbacks: "none" };
  Object.assign(fakeVendor.switches, quiet);
  fakeVendor.invalidRequests.length = 0;
});

const context = (more: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(kit.env(fakeVendor), replicate, more);
const offerOf = (upstreamModel: string, task?: string): Offer =>
  replicate.offers.find((offer) => offer.upstreamModel === upstreamModel && (!task || offer.task === task))!;
const lastInput = () => fakeVendor.ledger.at(-1)!.request.input as Record<string, unknown>;

async function submit(offer: Offer, job: Partial<Job<Asset>> = {}, more: Partial<ProviderContext<unknown>> = {}) {
  const sent = await replicate.submit(adjustParameters(createSampleJob(offer, job), offer).job, offer, context(more));
  return (sent as { ticket: Ticket }).ticket;
}

/** The fake vendor works in milliseconds: it is asked until it has an answer. */
const ended = (ticket: Ticket) =>
  expect
    .poll(() => replicate.poll(ticket, context()), { timeout: 3000, interval: 20 })
    .toMatchObject({ state: "done" });

const thrownBy = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (fault: Fault) => fault,
  );
  return { code: thrown?.code, kind: thrown && readProviderFailure(thrown).kind, failure: readProviderFailure(thrown) };
};

const endOf = async (ticket: Ticket) => {
  let end = await thrownBy(replicate.poll(ticket, context()));
  while (end.code === undefined) end = await thrownBy(replicate.poll(ticket, context()));
  return end;
};

describe("every offer", () => {
  it.each(
    replicate.offers.map((offer) => [`${offer.task} with ${offer.model} by ${offer.upstreamModel}`, offer] as const),
  )("%s is taken as it stands and makes something", async (_, offer) => {
    await ended(await submit(offer));
    expect(fakeVendor.invalidRequests).toEqual([]);
    expect(fakeVendor.ledger.at(-1)?.model).toBe(offer.upstreamModel.split(":")[0]);
  });

  it("recovers by lookup, and has one upstream name for each task and model", () => {
    expect(new Set(replicate.offers.map(({ recovery }) => recovery))).toEqual(new Set(["find"]));
    const names = replicate.offers.map(({ task, model, upstreamModel }) => `${task} ${model} ${upstreamModel}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("a request", () => {
  it("of flux-dev contains only given fields, in the provider's names", async () => {
    const offer = offerOf("black-forest-labs/flux-dev");
    await submit(offer);
    expect(lastInput()).toEqual({ prompt: "a red bicycle by the sea", output_format: "png" });
    const options = { guidance: 30, steps: 80, upscale_factor: 2 };
    await submit(offer, { width: 512, height: 512, aspect_ratio: "1:1", count: 3, seed: 7, options });
    expect(lastInput()).toEqual({
      prompt: "a red bicycle by the sea",
      aspect_ratio: "1:1",
      megapixels: "0.25",
      num_outputs: 3,
      guidance: 10,
      num_inference_steps: 50,
      seed: 7,
      go_fast: false,
      output_format: "png",
    });
  });

  it("of the other models contains images in their fields", async () => {
    const [a, b] = [createImageAsset("a"), createImageAsset("b")];
    const inline = expect.stringMatching(/^data:image\/png;base64,/);
    await submit(offerOf("black-forest-labs/flux-kontext-max", "image.edit"), { images: [a], aspect_ratio: undefined });
    expect(lastInput()).toEqual({ prompt: "make it night", input_image: inline, output_format: "png" });
    await submit(offerOf("flux-kontext-apps/multi-image-kontext-max"), { images: [a, b], seed: 3 });
    expect(lastInput()).toMatchObject({ input_image_1: inline, input_image_2: inline, seed: 3 });
    await submit(offerOf("google/nano-banana-2.1", "image.edit"), { images: [a, b] });
    expect(lastInput()).toMatchObject({ image_input: [inline, inline] });
    await submit(offerOf("google/nano-banana-2.1"), { images: undefined, width: 4096, height: 4096 });
    expect(lastInput()).toMatchObject({ aspect_ratio: "1:1", resolution: "4K" });
    await submit(offerOf("openai/gpt-image-2.5-flare", "image.edit"), { images: [a, b] });
    expect(lastInput()).toMatchObject({ input_images: [inline, inline], quality: "high" });
    await submit(offerOf("openai/gpt-image-1.5", "image.edit"), { images: [a, b], count: 2 });
    expect(lastInput()).toMatchObject({ input_images: [inline, inline], number_of_images: 2 });
    const options = { tags: ["hero", "sea"], resolution: "720p" };
    await submit(offerOf("runwayml/gen4-image"), { images: [a, b], aspect_ratio: "21:9", options });
    expect(lastInput()).toMatchObject({
      reference_images: [inline, inline],
      reference_tags: ["hero", "sea"],
      aspect_ratio: "21:9",
      resolution: "720p",
    });
    await submit(offerOf("luma/reframe-image"), { options: { grid_position_x: 12, y_end: 300 } });
    expect(lastInput()).toMatchObject({ image: inline, model: "photon-1", grid_position_x: 12, y_end: 300 });
    await submit(offerOf("google/upscaler"), { options: { factor: 4 } });
    expect(lastInput()).toEqual({ image: inline, upscale_factor: "x4" });
    const video = { prompt: undefined, aspect_ratio: "9:16", options: { duration: 30, fps: 24 } };
    await submit(offerOf("kwaivgi/kling-v3-video"), video);
    const silent = { prompt: "", duration: 15, mode: "standard", generate_audio: false };
    expect(lastInput()).toEqual({ ...silent, start_image: inline });
    await submit(offerOf("kwaivgi/kling-v3-video"), { ...video, images: undefined });
    expect(lastInput()).toEqual({ ...silent, aspect_ratio: "9:16" });
    await submit(offerOf("kwaivgi/kling-v2.1"), { prompt: undefined, options: { duration: 10, fps: 24 } });
    expect(lastInput()).toEqual({ prompt: "", start_image: inline, duration: 10 });
  });

  it("of a character has an inverted mask and a seed within the provider's range", async () => {
    const images = [createImageAsset("hero"), createImageAsset("beach")];
    const offer = offerOf("ideogram-ai/ideogram-character");
    const ticket = await submit(offer, { images, mask: createMaskAsset(), mask_over: 1, seed: 4294967295 });
    expect(lastInput()).toMatchObject({ seed: 2147483647 });
    await ended(ticket);
    // White changes on our side of the door: the middle of the image, and nothing else.
    expect(await changedBy(ticket, images[1]!)).toEqual({ middle: true, corner: false });
    expect(offer.supports?.({ images, options: {} })).toBe(false);
  });

  it.each(["bria/eraser", "bria/genfill"])("of %s has the mask unchanged", async (upstreamModel) => {
    const image = createImageAsset("desk");
    const ticket = await submit(offerOf(upstreamModel), { images: [image], mask: createMaskAsset() });
    await ended(ticket);
    expect(await changedBy(ticket, image)).toEqual({ middle: true, corner: false });
  });

  async function changedBy(ticket: Ticket, before: Asset) {
    const done = await replicate.poll(ticket, context());
    const [output] = "outputs" in done ? done.outputs : [];
    const made = await (await fetch((output as { url: string }).url)).arrayBuffer();
    const pixels = async (bytes: ArrayBuffer | Uint8Array) => sharp(bytes).removeAlpha().raw().toBuffer();
    const [after, original] = [await pixels(made), await pixels(await before.bytes())];
    const isChanged = (x: number, y: number) => after[(y * 64 + x) * 3] !== original[(y * 64 + x) * 3];
    return { middle: isChanged(32, 32), corner: isChanged(1, 1) };
  }
});

describe("image transfer", () => {
  const noise = createAsset("noise", () =>
    sharp({
      create: {
        width: 400,
        height: 400,
        channels: 3,
        background: "#888",
        noise: { type: "gaussian", mean: 128, sigma: 60 },
      },
    })
      .png()
      .toBuffer(),
  );
  const offer = () => offerOf("black-forest-labs/flux-kontext-max", "image.edit");

  it("uploads a large image if the provider cannot reach Gesso, and sends its URL otherwise", async () => {
    expect((await noise.bytes()).length).toBeGreaterThan(256 * 1024);
    const ticket = await submit(offer(), { images: [noise] });
    expect(lastInput().input_image).toMatch(new RegExp(`^${fakeVendor.url}/v1/files/`));
    await ended(ticket);
    await submit(offer(), { images: [noise] }, { isPublicUrlReachable: true });
    expect(lastInput().input_image).toBe(await noise.url());
  });

  it("shares the inline limit between several images", async () => {
    const medium = createAsset("medium", async () => (await noise.bytes()).subarray(0, 200 * 1024));
    await submit(offerOf("google/nano-banana-2.1", "image.edit"), { images: [medium, createImageAsset("small")] });
    expect(lastInput().image_input).toEqual([expect.stringMatching(/^http/), expect.stringMatching(/^data:/)]);
  });

  it("that fails leaves no unknown outcome, because nothing was submitted", async () => {
    const before = fakeVendor.ledger.length;
    const lost: ProviderContext<unknown>["send"] = async (url, request) => {
      if (url.endsWith("/files")) throw Object.assign(new Error("cut"), { code: "ECONNRESET" });
      return context().send(url, request);
    };
    expect(await thrownBy(submit(offer(), { images: [noise] }, { send: lost }))).toMatchObject({ kind: "unsent" });
    expect(fakeVendor.ledger).toHaveLength(before);
  });
});

describe("a failure", () => {
  const offer = () => offerOf("black-forest-labs/flux-dev");

  it.each([
    [401, "model_unavailable", "refused"],
    [402, "model_unavailable", "refused"],
    [404, "model_unavailable", "refused"],
    [422, "provider_rejected_input", "refused"],
    [429, "provider_error", "busy"],
    [500, "provider_error", "unknown"],
    [503, "provider_error", "unknown"],
  ])("of a submission with status %i becomes the right fault", async (status, code, kind) => {
    fakeVendor.switches.refuse = { times: 1, status };
    expect(await thrownBy(submit(offer()))).toMatchObject({ code, kind });
  });

  it("carries the retry delay of a header or of a sentence", async () => {
    fakeVendor.switches.refuse = { times: 1, status: 429 };
    expect((await thrownBy(submit(offer()))).failure).toMatchObject({ retryAfterSeconds: 3 });
    fakeVendor.switches.refuse = { times: 1, status: 429, body: { detail: "Slow down.", retry_after: 11 } };
    expect((await thrownBy(submit(offer()))).failure).toMatchObject({ retryAfterSeconds: 11 });
  });

  it("for a missing version is model_unavailable", async () => {
    const segment = { ...offerOf("mattsays/sam3-image:latest"), upstreamModel: "mattsays/sam3-image:0123" };
    expect(await thrownBy(submit(segment))).toMatchObject({ code: "model_unavailable", kind: "refused" });
  });

  it("of the connection after the request was sent leaves the outcome unknown, and nothing is sent again", async () => {
    const before = fakeVendor.ledger.length;
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await thrownBy(submit(offer()))).toMatchObject({ kind: "unknown" });
    expect(fakeVendor.ledger).toHaveLength(before + 1);
  });

  it("for a moderated prompt is content_refused; other failures are provider_error", async () => {
    const offended = await endOf(await submit(offer(), { prompt: "something forbidden" }));
    expect(offended).toMatchObject({ code: "content_refused", kind: "refused" });
    fakeVendor.switches.outcome = "failed";
    expect(await endOf(await submit(offer()))).toMatchObject({ code: "provider_error", kind: "failed" });
  });

  it.each([
    ["failed", "NSFW content detected in generated image", "content_refused", "refused"],
    ["failed", "Your request was rejected by our safety system", "content_refused", "refused"],
    ["failed", "Input validation error: image could not be downloaded", "provider_rejected_input", "refused"],
    ["failed", { message: "a stack trace" }, "provider_error", "failed"],
    ["canceled", null, "provider_error", "failed"],
    ["aborted", null, "provider_error", "gone"],
  ])("of a prediction that has %s with %j becomes the right fault", async (status, error, code, kind) => {
    const text = JSON.stringify({ id: "p", status, error });
    const send = async () => ({ status: 200, header: () => undefined, text });
    expect(await thrownBy(replicate.poll({ id: "p" }, context({ send })))).toMatchObject({ code, kind });
  });

  it("for a prediction that is not found ends the job", async () => {
    expect(await thrownBy(replicate.poll({ id: "gone" }, context()))).toMatchObject({ kind: "failed" });
  });
});

it("progress is read from the model's log", async () => {
  fakeVendor.switches.workMs = 5000;
  const ticket = await submit(offerOf("black-forest-labs/flux-dev"));
  await expect
    .poll(() => replicate.poll(ticket, context()), { timeout: 4000 })
    .toMatchObject({ state: "running", progress: 0.5 });
  expect(await replicate.cancel!(ticket, context())).toEqual({ isUncharged: false });
  expect(fakeVendor.ledger.at(-1)?.canceledAt).toBeDefined();
});

it("a prediction that was aborted before it started is not charged", async () => {
  const ticket = await submit(offerOf("black-forest-labs/flux-dev"));
  const text = JSON.stringify({ id: ticket.id, status: "aborted" });
  const send = async () => ({ status: 200, header: () => undefined, text });
  expect(await replicate.cancel!(ticket, context({ send }))).toEqual({ isUncharged: true });
});

it("the probe reads the account and finds retired models without creating predictions", async () => {
  const before = fakeVendor.ledger.length;
  fakeVendor.switches.retired = ["google/imagen-4"];
  const { message: says, missing } = await replicate.probe!(replicate.offers, context());
  expect(says).toContain("fake");
  expect(missing).toEqual(["google/imagen-4"]);
  expect(fakeVendor.ledger).toHaveLength(before);
  const wrong = createFakeProviderContext({ ...kit.env(fakeVendor), REPLICATE_API_TOKEN: "wrong" }, replicate);
  expect(await thrownBy(replicate.probe!(replicate.offers, wrong))).toMatchObject({ code: "model_unavailable" });
});

it("results are fetched only from the provider's own hosts", () => {
  const origins = replicate.resultOrigins(replicate.env.parse({ REPLICATE_API_TOKEN: "t" }));
  expect(origins).toEqual(["https://replicate.delivery", "https://*.replicate.delivery", "https://api.replicate.com"]);
});
