// The adapter against the fake vendor, over a socket: what is asked of each model, how images travel, and what each of
// the provider's words means to us.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { fakeRunway as kit } from "../../test/fake-vendors/runway.ts";
import { createAsset, createImageAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../contract/operation.ts";
import type { Fault } from "../faults/faults.ts";
import { isAllowedOrigin } from "../outbound/url-policy.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { readProviderFailure } from "./call-provider.ts";
import type { Asset, Offer, ProviderContext, SendRequest, Ticket } from "./provider.ts";
import { runway } from "./runway.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", workMs: 50, refuse: undefined, drop: undefined, retired: [] });
  fakeVendor.invalidRequests.length = 0;
});

const context = (more: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(kit.env(fakeVendor), runway, more);
const offerOf = (upstreamModel: string, task?: string): Offer =>
  runway.offers.find((offer) => offer.upstreamModel === upstreamModel && (!task || offer.task === task))!;
const last = () => fakeVendor.ledger.at(-1)!.request;

async function submit(offer: Offer, job: Partial<Job<Asset>> = {}, more: Partial<ProviderContext<unknown>> = {}) {
  const sent = await runway.submit(adjustParameters(createSampleJob(offer, job), offer).job, offer, context(more));
  return (sent as { ticket: Ticket }).ticket;
}

const ended = (ticket: Ticket) =>
  expect.poll(() => runway.poll(ticket, context()), { timeout: 5000, interval: 20 }).toMatchObject({ state: "done" });

const thrownBy = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (fault: Fault) => fault,
  );
  return { code: thrown?.code, kind: thrown && readProviderFailure(thrown).kind };
};

const inline = expect.stringMatching(/^data:image\/png;base64,/);

describe("every offer", () => {
  it.each(runway.offers.map((offer) => [`${offer.task} by ${offer.upstreamModel}`, offer] as const))(
    "%s is taken as it stands and makes something",
    async (_, offer) => {
      await ended(await submit(offer));
      expect(fakeVendor.invalidRequests).toEqual([]);
    },
  );

  it("states that a lost job cannot be looked up", () => {
    expect(new Set(runway.offers.map(({ recovery }) => recovery))).toEqual(new Set(["none"]));
    expect([runway.findJob, runway.parseCallback, runway.pollSeconds]).toEqual([undefined, undefined, 5]);
  });
});

describe("a request", () => {
  it.each([
    ["16:9", "720p", "1280:720"],
    ["9:16", "1080p", "1080:1920"],
    ["1:1", "720p", "720:720"],
    ["4:3", "1080p", "1440:1080"],
    ["3:4", "720p", "720:960"],
    ["21:9", "1080p", "2112:912"],
    ["21:9", undefined, "2112:912"],
    [undefined, "720p", "1280:720"],
    [undefined, undefined, "1920:1080"],
  ])("of an image has aspect ratio %s at %s", async (aspect_ratio, resolution, ratio) => {
    const options = { tags: ["hero"], ...(resolution && { resolution }) };
    await submit(offerOf("gen4_image"), { aspect_ratio, options });
    const referenceImages = [{ uri: inline, tag: "hero" }];
    expect(last()).toEqual({ model: "gen4_image", promptText: "@hero on a beach", ratio, referenceImages });
  });

  it("of an image has none or three references", async () => {
    await submit(offerOf("gen4_image"), { images: undefined, options: undefined, prompt: "a lake" });
    expect(last()).toEqual({ model: "gen4_image", promptText: "a lake", ratio: "1920:1080" });
    const images = [createImageAsset("a"), createImageAsset("b"), createImageAsset("c")];
    await submit(offerOf("gen4_image"), { images, options: { tags: ["one", "two", "three"] } });
    expect(last().referenceImages).toEqual(["one", "two", "three"].map((tag) => ({ uri: inline, tag })));
  });

  it("of a video has aspect ratio, seconds and seed, and omits fps and similar options", async () => {
    const options = { duration: 3, fps: 24, cfg_scale: 4, motion_bucket_id: 90 };
    const job = { aspect_ratio: "9:16", seed: 7, negative_prompt: "rain", options };
    await submit(offerOf("gen4_turbo"), job);
    const asked = { promptText: "it moves", promptImage: inline, ratio: "720:1280", duration: 3, seed: 7 };
    expect(last()).toEqual({ model: "gen4_turbo", ...asked });
    await submit(offerOf("gen4_turbo"), { ...job, prompt: undefined });
    expect(last()).not.toHaveProperty("promptText");
    await submit(offerOf("gen4.5"), { ...job, prompt: undefined });
    expect(last()).toEqual({ ...asked, model: "gen4.5", promptText: expect.stringMatching(/./) });
  });

  it.each(["veo3.1", "veo3.1_fast"])(
    "of %s has the nearest length and shape, what must not appear, and no sound",
    async (model) => {
      await submit(offerOf(model), {
        aspect_ratio: "9:16",
        negative_prompt: "rain",
        seed: 7,
        options: { duration: 7 },
      });
      expect(last()).toEqual({
        ...{ model, promptText: "it moves", promptImage: inline, ratio: "720:1280", duration: 6, seed: 7 },
        ...{ negativePrompt: "rain", audio: false },
      });
    },
  );

  it("of a hosted third-party model is valid", async () => {
    await submit(offerOf("gpt_image_2", "image.edit"), {
      images: [createImageAsset("a"), createImageAsset("b")],
      count: 2,
      seed: 7,
    });
    expect(last()).toEqual({
      model: "gpt_image_2",
      promptText: "make it night",
      ratio: "auto",
      outputCount: 2,
      referenceImages: [{ uri: inline }, { uri: inline }],
    });
    await submit(offerOf("gpt_image_2", "image.generate"), { width: 1920, height: 1088 });
    expect(last()).toMatchObject({ ratio: "1920:1088" });
  });
});

describe("an image that is too large for the request", () => {
  const large = createAsset("large", async () => {
    const small = await createImageAsset("large").bytes();
    // An image is over where it says so; what comes after is only weight.
    return Buffer.concat([small, Buffer.alloc(4_000_000)]);
  });
  const job = { images: [large], options: { tags: ["hero"] } };

  it("is uploaded first, to a storage that never receives the key", async () => {
    const seen: { url: string; headers: Record<string, string> }[] = [];
    const send: SendRequest = (url, request) => {
      seen.push({ url, headers: request.headers });
      return context().send(url, request);
    };
    const ticket = await submit(offerOf("gen4_image"), job, { send });
    expect(last().referenceImages).toEqual([{ uri: expect.stringMatching(/^runway:\/\//), tag: "hero" }]);
    await ended(ticket);
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(["/v1/uploads", "/storage", "/v1/text_to_image"]);
    expect(seen[1]?.headers).toEqual({ accept: "application/json" });
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  /** Runway as it is, except that its storage is where and what the test says. */
  const stored = (uploadUrl: string, answer: { status: number; text: string }, visited: string[] = []) => {
    const send: SendRequest = async (url, request) => {
      if (new URL(url).pathname === "/v1/uploads") {
        const slot = { uploadUrl, fields: { key: "k" }, runwayUri: "runway://k" };
        return { status: 200, header: () => undefined, text: JSON.stringify(slot) };
      }
      if (url !== uploadUrl) return context().send(url, request);
      visited.push(url);
      return { ...answer, header: () => undefined };
    };
    return submit(offerOf("gen4_image"), job, { send });
  };
  const S3 = "https://bucket.s3.us-east-1.amazonaws.com/";

  it("is uploaded also if the storage responds in XML", async () => {
    await stored(S3, { status: 201, text: "<PostResponse/>" });
    expect(last().referenceImages).toEqual([{ uri: "runway://k", tag: "hero" }]);
  });

  it.each([
    "https://evil.example.com/",
    "http://bucket.s3.us-east-1.amazonaws.com/",
    "https://169.254.169.254/latest",
    "https://amazonaws.com.evil.example.com/",
  ])("is not uploaded to %s", async (url) => {
    const visited: string[] = [];
    expect(await thrownBy(stored(url, { status: 204, text: "" }, visited))).toMatchObject({ kind: "unsent" });
    expect(visited).toEqual([]);
  });

  it.each([403, 500])("costs nothing if the storage responds with %i", async (status) => {
    const before = fakeVendor.ledger.length;
    expect(await thrownBy(stored(S3, { status, text: "<Error/>" }))).toMatchObject({ kind: "unsent" });
    expect(fakeVendor.ledger).toHaveLength(before);
  });
});

describe("a failure", () => {
  const offer = () => offerOf("gen4_image");

  it.each([
    [400, "provider_rejected_input", "refused", undefined],
    [400, "model_unavailable", "refused", { error: "You do not have enough credits to run this task." }],
    [401, "model_unavailable", "refused", undefined],
    [429, "provider_error", "busy", undefined],
    [429, "model_unavailable", "refused", { error: "You have reached your daily task limit for this model." }],
    [502, "provider_error", "unknown", undefined],
    [503, "provider_error", "unknown", undefined],
  ])("of a submission with status %i is %s", async (status, code, kind, body) => {
    fakeVendor.switches.refuse = { times: 1, status, ...(body && { body }) };
    expect(await thrownBy(submit(offer()))).toMatchObject({ code, kind });
  });

  it("for a retired model is model_unavailable", async () => {
    fakeVendor.switches.retired = ["gen4_image"];
    expect(await thrownBy(submit(offer()))).toMatchObject({ code: "model_unavailable", kind: "refused" });
  });

  it("of the connection after the request was sent leaves the outcome unknown, and nothing is sent again", async () => {
    const before = fakeVendor.ledger.length;
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await thrownBy(submit(offer()))).toMatchObject({ kind: "unknown" });
    expect(fakeVendor.ledger).toHaveLength(before + 1);
  });

  it.each([
    ["FAILED", "SAFETY.INPUT.TEXT", "content_refused", "refused"],
    ["FAILED", "SAFETY.OUTPUT.IMAGE", "content_refused", "refused"],
    ["FAILED", "INPUT_PREPROCESSING.SAFETY.TEXT", "content_refused", "refused"],
    ["FAILED", "THIRD_PARTY.SAFETY", "content_refused", "refused"],
    ["FAILED", "ASSET.INVALID", "provider_rejected_input", "refused"],
    ["FAILED", "INTERNAL.BAD_OUTPUT.CODE01", "provider_error", "failed"],
    ["FAILED", "INTERNAL", "provider_error", "failed"],
    ["FAILED", undefined, "provider_error", "failed"],
    ["CANCELLED", undefined, "provider_error", "failed"],
  ])("of a task that is %s with %s becomes the right fault", async (status, failureCode, code, kind) => {
    const text = JSON.stringify({ id: "t", status, failureCode, failure: "Something happened." });
    const send = async () => ({ status: 200, header: () => undefined, text });
    expect(await thrownBy(runway.poll({ id: "t" }, context({ send })))).toEqual({ code, kind });
  });

  it("for a task that is not found ends the job", async () => {
    expect(await thrownBy(runway.poll({ id: "gone" }, context()))).toMatchObject({ kind: "failed" });
  });
});

it.each([
  ["PENDING", undefined],
  ["THROTTLED", undefined],
  ["RUNNING", 0.4],
  ["SOMETHING_NEW", undefined],
])("a task that is %s keeps running", async (status, progress) => {
  const text = JSON.stringify({ id: "t", status, progress });
  const send = async () => ({ status: 200, header: () => undefined, text });
  const stands = await runway.poll({ id: "t" }, context({ send }));
  expect(stands).toEqual({ state: "running", ticket: { id: "t" }, ...(progress && { progress }) });
});

it("a task can be canceled", async () => {
  fakeVendor.switches.workMs = 60_000;
  const ticket = await submit(offerOf("gen4_image"));
  await runway.cancel!(ticket, context());
  expect(fakeVendor.ledger.at(-1)?.canceledAt).toBeDefined();
});

it("the probe reads credits and unavailable models without creating tasks", async () => {
  const before = fakeVendor.ledger.length;
  fakeVendor.switches.retired = ["gen4.5"];
  expect(await runway.probe!(runway.offers, context())).toEqual({
    message: "1234 credits are left.",
    missing: ["gen4.5"],
  });
  expect(fakeVendor.ledger).toHaveLength(before);
  const wrong = createFakeProviderContext({ ...kit.env(fakeVendor), RUNWAY_API_KEY: "wrong" }, runway);
  expect(await thrownBy(runway.probe!(runway.offers, wrong))).toMatchObject({ code: "model_unavailable" });
});

describe("results", () => {
  const originsWith = (env: Record<string, string>) =>
    runway.resultOrigins(runway.env.parse({ RUNWAY_API_KEY: "key", ...env }));

  it("are fetched from the host in Runway's documentation, and from no other customer of its CDN", () => {
    const origins = originsWith({});
    expect(isAllowedOrigin("https://dnznrvs05pmza.cloudfront.net/output.mp4?_jwt=x", origins)).toBe(true);
    for (const host of ["d111111abcdef8.cloudfront.net", "cloudfront.net", "x.dnznrvs05pmza.cloudfront.net"])
      expect([host, isAllowedOrigin(`https://${host}/output.mp4`, origins)]).toEqual([host, false]);
    expect(isAllowedOrigin("http://dnznrvs05pmza.cloudfront.net/output.mp4", origins)).toBe(false);
  });

  it("are fetched from the hosts of the setting, which takes no wildcard", () => {
    const origins = originsWith({ RUNWAY_RESULT_HOSTS: "files.runwayml.com, d2.cloudfront.net" });
    expect(origins.slice(0, 2)).toEqual(["https://files.runwayml.com", "https://d2.cloudfront.net"]);
    for (const wrong of ["*.cloudfront.net", "https://files.runwayml.com", ""])
      expect(() => originsWith({ RUNWAY_RESULT_HOSTS: wrong })).toThrow("without a wildcard");
  });
});
