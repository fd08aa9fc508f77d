import fc from "fast-check";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeOpenai as kit } from "../../test/fake-vendors/openai.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { colourFromText } from "../../test/fake-vendors/result-files.ts";
import {
  createAsset,
  createImageAsset,
  createMaskAsset,
  createSampleJob,
} from "../../test/fake-vendors/sample-jobs.ts";
import type { Job, Task } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { readProviderFailure } from "./call-provider.ts";
import { openai } from "./openai.ts";
import type { Asset, JobDone, Offer, ProviderContext } from "./provider.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  fakeVendor.ledger.length = 0;
  fakeVendor.invalidRequests.length = 0;
  const off = { drop: undefined, hang: undefined, refuse: undefined, outcome: "done", retired: [] };
  Object.assign(fakeVendor.switches, off);
});

const offerFor = (task: Task, model: string, upstreamModel?: string): Offer =>
  openai.offers.find(
    (each) =>
      each.task === task && each.model === model && (upstreamModel ?? each.upstreamModel) === each.upstreamModel,
  )!;
const VENDORA = offerFor("image.generate", "vendora");
const EDIT = offerFor("image.edit", "vendora");

const context = (env: Record<string, string> = {}, overrides: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext({ ...kit.env(fakeVendor), ...env }, openai, overrides);
const submit = async (job: Job<Asset>, offer: Offer, using = context()) =>
  (await openai.submit(adjustParameters(job, offer).job, offer, using)) as JobDone;
const thrownBy = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { kind, retryAfterSeconds, status } = readProviderFailure(thrown);
  return { code: thrown instanceof Fault ? thrown.code : thrown, kind, retryAfterSeconds, status };
};
const bytesOf = (done: JobDone, index = 0) => (done.outputs[index] as { bytes: Uint8Array }).bytes;
const asked = () => fakeVendor.ledger.at(-1);

describe("images", () => {
  it("are requested with named fields only, and returned as bytes", async () => {
    const job = createSampleJob(VENDORA, { width: 1024, height: 768, count: 3, seed: 7, options: { strange: 1 } });
    const done = await submit(job, VENDORA);
    expect(done.outputs).toHaveLength(3);
    expect(await sharp(bytesOf(done)).metadata()).toMatchObject({ width: 1024, height: 768, format: "png" });
    expect(asked()).toMatchObject({
      model: "gpt-image-2.5-flare",
      request: { prompt: job.prompt, n: 3, size: "1024x768", output_format: "png" },
    });
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("have no size if the caller requested none", async () => {
    await submit(createSampleJob(VENDORA), VENDORA);
    expect(asked()?.request.size).toBe("auto");
  });

  it("are edits if there is a source image", async () => {
    await submit(createSampleJob(VENDORA, { images: [createImageAsset("one")], aspect_ratio: "16:9" }), VENDORA);
    expect(asked()?.request).toMatchObject({ images: 1, mask: false, size: "1376x768" });
    await submit(createSampleJob(EDIT, { images: [createImageAsset("one"), createImageAsset("two")], count: 2 }), EDIT);
    expect(asked()?.request).toMatchObject({ images: 2, mask: false, size: "auto", n: 2 });
  });

  it("have one of three sizes with the previous model", async () => {
    const before = offerFor("image.generate", "vendora", "gpt-image-1.5");
    await submit(createSampleJob(before, { width: 1600, height: 900 }), before);
    expect(asked()).toMatchObject({ model: "gpt-image-1.5", request: { size: "1536x1024" } });
  });

  it("are always requested in a size that OpenAI supports", () => {
    const side = fc.integer({ min: 64, max: 2048 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const made = adjustParameters({ task: "image.generate", model: "vendora", width, height }, VENDORA).job;
        const [long, short] = [Math.max(made.width!, made.height!), Math.min(made.width!, made.height!)];
        expect([long % 16, short % 16]).toEqual([0, 0]);
        expect(long).toBeLessThanOrEqual(Math.min(3840, short * 3));
        expect(long * short).toBeGreaterThanOrEqual(655_360);
      }),
    );
  });

  it("are read from a URL if a compatible server returns one", async () => {
    const base = { OPENAI_BASE_URL: `${fakeVendor.url}/compatible/v1/` };
    const using = context(base);
    const { outputs } = await submit(createSampleJob(VENDORA), VENDORA, using);
    const { url } = outputs[0] as { url: string };
    expect(openai.resultOrigins(using.env)).toContain(new URL(url).origin);
    expect((await fetch(url)).status).toBe(200);
  });
});

describe("a mask", () => {
  const FILL = offerFor("image.edit", "edit-default");
  const colourAt = async (bytes: Uint8Array, at: { x: number; y: number }) => {
    const image = sharp(bytes).removeAlpha();
    const { width, height } = await sharp(bytes).metadata();
    const pixels = await image.raw().toBuffer();
    const place = (Math.floor(at.y * height) * width + Math.floor(at.x * width)) * 3;
    return { r: pixels[place], g: pixels[place + 1], b: pixels[place + 2] };
  };

  it("is filled with the background if its content is removed, with a prompt of Gesso", async () => {
    const ERASE = offerFor("image.remove", "remove-default");
    const sized = { images: [createImageAsset("sand", 96, 64)], mask: createMaskAsset(96, 64) };
    await submit(createSampleJob(ERASE, { ...sized, prompt: undefined }), ERASE);
    const { request } = asked()!;
    expect(request).toMatchObject({ mask: true, images: 1, size: "1056x704" });
    expect(String(request.prompt)).toMatch(/^Remove everything in the masked area/);
  });

  it("changes its white areas, and the image keeps its aspect ratio", async () => {
    const job = createSampleJob(FILL, {
      prompt: "a sea",
      images: [createImageAsset("sand", 96, 64)],
      mask: createMaskAsset(96, 64),
    });
    const bytes = bytesOf(await submit(job, FILL));
    expect(asked()?.request).toMatchObject({ mask: true, size: "1056x704" });
    expect(await colourAt(bytes, { x: 0.5, y: 0.5 })).toEqual(colourFromText("a sea"));
    expect(await colourAt(bytes, { x: 0.1, y: 0.1 })).toEqual(colourFromText("sand"));
  });

  it("belongs to the image that it was drawn for", async () => {
    const images = [createImageAsset("face"), createImageAsset("sand", 96, 64)];
    const job = createSampleJob(EDIT, { prompt: "a sea", images, mask: createMaskAsset(96, 64), mask_over: 1 });
    const bytes = bytesOf(await submit(job, EDIT));
    expect(await colourAt(bytes, { x: 0.1, y: 0.1 })).toEqual(colourFromText("sand"));
  });
});

describe("text", () => {
  const DESCRIBE = offerFor("image.describe", "describe-default");
  const ENHANCE = offerFor("prompt.enhance", "enhance-default");

  it("describes an image in the shape of the operation's response", async () => {
    const job = createSampleJob(DESCRIBE, {
      images: [createImageAsset("sand", 40, 30)],
      options: { detail: "short", language: "Italian" },
    });
    expect(await submit(job, DESCRIBE)).toEqual({
      state: "done",
      outputs: [],
      data: {
        description: "description: an image of 40x30",
        tags: ["tags: an image of 40x30 1", "tags: an image of 40x30 2"],
        prompt: "prompt: an image of 40x30",
        width: 40,
        height: 30,
      },
    });
    expect(asked()?.request).toMatchObject({ store: false, background: false });
    expect(asked()?.request.instructions).toMatch(/one short sentence.*Italian/s);
  });

  it("enhances a prompt, with the additions", async () => {
    const job = createSampleJob(ENHANCE, {
      prompt: "a cat",
      options: { model_type: "flux-dev", style: "watercolour" },
    });
    const { data } = await submit(job, ENHANCE);
    expect(data).toMatchObject({ enhanced_prompt: "enhanced_prompt: a cat" });
    expect(data?.changes).toHaveLength(2);
    expect(asked()?.request.instructions).toMatch(/flux-dev.*watercolour/s);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("is content_refused if it was refused, and a failure if it is empty", async () => {
    const job = createSampleJob(ENHANCE, { prompt: "something forbidden" });
    expect(await thrownBy(submit(job, ENHANCE))).toMatchObject({ code: "content_refused", kind: "refused" });
    fakeVendor.switches.outcome = "failed";
    expect(await thrownBy(submit(createSampleJob(ENHANCE), ENHANCE))).toMatchObject({
      code: "provider_error",
      kind: "failed",
    });
  });
});

describe("an error response", () => {
  const refused = (status: number, error: object, headers: Record<string, string> = {}) => {
    fakeVendor.switches.refuse = { times: 1, status, body: { error: { message: "no", ...error } }, headers };
    return thrownBy(submit(createSampleJob(VENDORA), VENDORA));
  };

  it.each([
    [400, { code: "moderation_blocked" }, "content_refused", "refused"],
    [400, { code: "content_policy_violation" }, "content_refused", "refused"],
    [429, { code: "insufficient_quota", type: "insufficient_quota" }, "model_unavailable", "refused"],
    [400, { code: "billing_hard_limit_reached" }, "model_unavailable", "refused"],
    [404, { code: "model_not_found" }, "model_unavailable", "refused"],
    [400, { code: "invalid_value", param: "model" }, "model_unavailable", "refused"],
    [401, { code: "invalid_api_key" }, "model_unavailable", "refused"],
    [403, { message: "Your organization must be verified" }, "model_unavailable", "refused"],
    [400, { code: "invalid_value", param: "size" }, "provider_rejected_input", "refused"],
    [500, { type: "image_generation_server_error" }, "provider_error", "failed"],
    [500, { type: "server_error" }, "provider_error", "unknown"],
    [503, { type: "server_error" }, "provider_error", "unknown"],
  ])("%i %o means %s, %s", async (status, error, code, kind) => {
    expect(await refused(status, error)).toMatchObject({ code, kind });
  });

  it("of a rate limit carries the provider's retry delay", async () => {
    const answer = await refused(429, { code: "rate_limit_exceeded" }, { "retry-after": "7" });
    expect(answer).toMatchObject({ code: "provider_error", kind: "busy", retryAfterSeconds: 7 });
  });

  it("distinguishes moderation, retired models and unverified organizations", async () => {
    const forbidden = thrownBy(submit(createSampleJob(VENDORA, { prompt: "something forbidden" }), VENDORA));
    expect(await forbidden).toMatchObject({ code: "content_refused" });
    fakeVendor.switches.retired = [VENDORA.upstreamModel];
    expect(await thrownBy(submit(createSampleJob(VENDORA), VENDORA))).toMatchObject({
      code: "model_unavailable",
      status: 404,
    });
    const other = context({ OPENAI_ORG_ID: "org-other" });
    expect(await thrownBy(submit(createSampleJob(EDIT), EDIT, other))).toMatchObject({ status: 401 });
  });

  it("that never comes leaves the outcome unknown, and the job is not sent again", async () => {
    fakeVendor.switches.drop = { times: 9, when: "after" };
    expect(await thrownBy(submit(createSampleJob(VENDORA), VENDORA))).toMatchObject({ kind: "unknown" });
    fakeVendor.switches.drop = undefined;
    fakeVendor.switches.hang = { times: 9, when: "after" };
    const hurried = context({}, { timeoutSeconds: 0.3 });
    expect(await thrownBy(submit(createSampleJob(VENDORA), VENDORA, hurried))).toMatchObject({ kind: "unknown" });
    expect(fakeVendor.ledger).toHaveLength(2);
  });

  it("a job cannot be polled, because it ends with its submission", async () => {
    expect(await thrownBy(openai.poll({}, context()))).toMatchObject({ code: "internal_error" });
  });
});

describe("a source image that cannot be read", () => {
  it("prevents the submission", async () => {
    const broken = createAsset("broken", () => Promise.reject(new Fault("asset_unavailable")));
    expect(await thrownBy(submit(createSampleJob(EDIT, { images: [broken] }), EDIT))).toMatchObject({
      code: "asset_unavailable",
    });
    expect(fakeVendor.ledger).toEqual([]);
  });
});

describe("the probe", () => {
  it("names retired models without creating jobs", async () => {
    expect(await openai.probe!(openai.offers, context())).toMatchObject({ missing: [] });
    fakeVendor.switches.retired = ["gpt-image-1.5"];
    expect(await openai.probe!(openai.offers, context())).toMatchObject({ missing: ["gpt-image-1.5"] });
    const wrong = context({ OPENAI_API_KEY: "sk-other" });
    expect(await thrownBy(openai.probe!(openai.offers, wrong))).toMatchObject({ status: 401 });
    expect(fakeVendor.ledger).toEqual([]);
  });
});
