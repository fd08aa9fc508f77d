import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeGemini as kit } from "../../test/fake-vendors/gemini.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { colourFromText } from "../../test/fake-vendors/result-files.ts";
import { createImageAsset, createMaskAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import type { Job, Task } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { pricesOfJob } from "../money/billable-quantity.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { readProviderFailure } from "./call-provider.ts";
import { gemini } from "./gemini.ts";
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

const offerFor = (task: Task, model: string): Offer =>
  gemini.offers.find((each) => each.task === task && each.model === model)!;
const MAKE = offerFor("image.generate", "nanobanana");
const EDIT = offerFor("image.edit", "gemini-2.5");

const context = (env: Record<string, string> = {}, overrides: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext({ ...kit.env(fakeVendor), ...env }, gemini, overrides);
const submit = async (job: Job<Asset>, offer: Offer, using = context()) =>
  (await gemini.submit(adjustParameters(job, offer).job, offer, using)) as JobDone;
const thrownBy = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { kind, retryAfterSeconds, status } = readProviderFailure(thrown);
  return { code: thrown instanceof Fault ? thrown.code : thrown, kind, retryAfterSeconds, status };
};
const asked = () => fakeVendor.ledger.at(-1)?.request;

describe("an image", () => {
  it("is requested with named fields only, and intermediate thoughts are not results", async () => {
    const job = createSampleJob(MAKE, { prompt: "a lamp", aspect_ratio: "16:9", seed: 7, options: { strange: 1 } });
    const { outputs } = await submit(job, MAKE);
    expect(outputs).toHaveLength(1);
    const { bytes, media_type } = outputs[0] as { bytes: Uint8Array; media_type: string };
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 96, height: 54, format: "jpeg" });
    expect(media_type).toBe("image/jpeg");
    expect(asked()).toEqual({
      said: "a lamp",
      images: 0,
      instruction: undefined,
      responseModalities: ["IMAGE"],
      seed: 7,
      imageConfig: { aspectRatio: "16:9" },
    });
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("has no aspect ratio if the caller requested none", async () => {
    await submit(createSampleJob(MAKE), MAKE);
    expect(asked()).not.toHaveProperty("imageConfig");
  });

  it("has the nearest supported aspect ratio", async () => {
    await submit(createSampleJob(MAKE, { aspect_ratio: "2:1" }), MAKE);
    expect(asked()).toMatchObject({ imageConfig: { aspectRatio: "16:9" } });
  });

  it.each([
    [1024, 1024, "1K"],
    [1280, 720, "1K"],
    [2048, 2048, "2K"],
    [2048, 1152, "2K"],
    [4096, 4096, "4K"],
  ])(
    "of %s × %s is requested in the nearest size that has a name, and costs what that size costs",
    async (width, height, imageSize) => {
      const job = createSampleJob(MAKE, { width, height });
      const { usage } = await submit(job, MAKE);
      expect(asked()).toMatchObject({ imageConfig: { imageSize } });
      const bounds = { "1K": 0.0636, "2K": 0.0804, "4K": 0.1434 };
      expect(pricesOfJob(MAKE, job)!.most!.image).toBe(bounds[imageSize as "1K"]);
      expect(usage!.output_image_token).toBe({ "1K": 1120, "2K": 1680, "4K": 3780 }[imageSize]);
    },
  );

  it("is created from several images, in their order", async () => {
    await submit(
      createSampleJob(EDIT, { images: [createImageAsset("one"), createImageAsset("two"), createImageAsset("three")] }),
      EDIT,
    );
    expect(asked()).toMatchObject({ said: "make it night", images: 3 });
  });

  it("of imagen's successor follows a reference, with the negative prompt", async () => {
    const offer = offerFor("image.generate", "vendorb-imagen4");
    await submit(
      createSampleJob(offer, { prompt: "a lamp", images: [createImageAsset("one")], negative_prompt: "people" }),
      offer,
    );
    const said = "a lamp\n\nMake it in the style of the reference image.\n\nThe picture must not show: people.";
    expect(asked()).toMatchObject({ said, images: 1, imageConfig: { aspectRatio: "1:1" } });
  });

  it("refers to tagged images by number", async () => {
    const offer = offerFor("image.reference", "reference-default");
    const job = createSampleJob(offer, {
      prompt: "@hero and @heroine walk, @nobody waits",
      images: [createImageAsset("one"), createImageAsset("two")],
      options: { tags: ["hero", "heroine"], resolution: "1080p" },
    });
    await submit(job, offer);
    expect(asked()).toMatchObject({
      said: "image 1 (hero) and image 2 (heroine) walk, @nobody waits",
      imageConfig: { imageSize: "2K" },
    });
    expect(offer).not.toHaveProperty("equivalence");
  });
});

describe("a mask", () => {
  const colours = async ({ outputs }: JobDone) => {
    const { data, info } = await sharp((outputs[0] as { bytes: Uint8Array }).bytes)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) => {
      const place = (y * info.width + x) * 3;
      return { r: data[place], g: data[place + 1], b: data[place + 2] };
    };
    return { size: [info.width, info.height], middle: at(info.width / 2, info.height / 2), corner: at(2, 2) };
  };

  it("is sent as a further image, and the prompt says that white changes", async () => {
    const job = createSampleJob(EDIT, {
      prompt: "a sea",
      images: [createImageAsset("sand", 96, 64)],
      mask: createMaskAsset(96, 64),
    });
    const seen = await colours(await submit(job, EDIT));
    expect(seen).toEqual({ size: [96, 64], middle: colourFromText("a sea"), corner: colourFromText("sand") });
    expect(asked()).toMatchObject({ images: 2 });
    expect(asked()).not.toHaveProperty("imageConfig");
  });

  it("belongs to the image that it was drawn for", async () => {
    const images = [createImageAsset("face"), createImageAsset("sand", 96, 64)];
    const job = createSampleJob(EDIT, { prompt: "a sea", images, mask: createMaskAsset(96, 64), mask_over: 1 });
    expect(await colours(await submit(job, EDIT))).toMatchObject({ size: [96, 64], corner: colourFromText("sand") });
  });
});

describe("text", () => {
  const DESCRIBE = offerFor("image.describe", "describe-default");
  const ENHANCE = offerFor("prompt.enhance", "enhance-default");

  it("describes an image in the shape of the operation's response", async () => {
    const job = createSampleJob(DESCRIBE, { images: [createImageAsset("sand", 40, 30)], options: { detail: "long" } });
    expect((await submit(job, DESCRIBE)).data).toEqual({
      description: "description: 1 images",
      tags: ["tags: 1 images 1", "tags: 1 images 2"],
      prompt: "prompt: 1 images",
      width: 40,
      height: 30,
    });
    expect(asked()?.instruction).toMatch(/detailed paragraph/);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("enhances a prompt, with the additions", async () => {
    const job = createSampleJob(ENHANCE, { prompt: "a cat", options: { model_type: "flux-dev", language: "French" } });
    const { data } = await submit(job, ENHANCE);
    expect(data).toMatchObject({ enhanced_prompt: "enhanced_prompt: a cat", changes: [{}, {}] });
    expect(asked()?.instruction).toMatch(/flux-dev.*French/s);
  });

  it("that is cut off is a failure", async () => {
    fakeVendor.switches.outcome = "failed";
    expect(await thrownBy(submit(createSampleJob(DESCRIBE), DESCRIBE))).toMatchObject({
      code: "provider_error",
      kind: "failed",
    });
    fakeVendor.switches.outcome = "moderated";
    expect(await thrownBy(submit(createSampleJob(DESCRIBE), DESCRIBE))).toMatchObject({ code: "content_refused" });
  });
});

describe("a 200 response without an image", () => {
  it("is content_refused if the prompt or the image was blocked", async () => {
    const forbidden = submit(createSampleJob(MAKE, { prompt: "something forbidden" }), MAKE);
    expect(await thrownBy(forbidden)).toMatchObject({ code: "content_refused", kind: "refused" });
    fakeVendor.switches.outcome = "moderated";
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE))).toMatchObject({
      code: "content_refused",
      kind: "refused",
    });
  });

  it("is a failure if it contains nothing, or only text", async () => {
    const talk = submit(createSampleJob(MAKE, { prompt: "only words" }), MAKE);
    expect(await thrownBy(talk)).toMatchObject({ code: "provider_error", kind: "failed" });
    fakeVendor.switches.outcome = "failed";
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE))).toMatchObject({
      code: "provider_error",
      kind: "failed",
    });
    expect(fakeVendor.ledger).toHaveLength(2);
  });
});

describe("an error response", () => {
  const refused = (status: number, error: object) => {
    fakeVendor.switches.refuse = { times: 1, status, body: { error: { code: status, message: "no", ...error } } };
    return thrownBy(submit(createSampleJob(MAKE), MAKE));
  };
  const quota = (quotaId: string, quotaValue = "10") => ({
    status: "RESOURCE_EXHAUSTED",
    details: [{ violations: [{ quotaId, quotaValue }] }, { retryDelay: "34.5s" }],
  });

  it("of a rate limit carries the provider's retry delay", async () => {
    const minute = await refused(429, quota("GenerateRequestsPerMinutePerProjectPerModel"));
    expect(minute).toMatchObject({ code: "provider_error", kind: "busy", retryAfterSeconds: 34.5 });
    const unsaid = await refused(429, { status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted." });
    expect(unsaid).toMatchObject({ code: "provider_error", kind: "busy" });
  });

  it.each([
    [429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), "model_unavailable", "refused"],
    [429, quota("GenerateRequestsPerMinutePerProjectPerModel", "0"), "model_unavailable", "refused"],
    [429, { message: "Your prepayment credits are depleted." }, "model_unavailable", "refused"],
    [503, { status: "UNAVAILABLE", message: "The model is overloaded." }, "provider_error", "busy"],
    [400, { message: "API key not valid. Please pass a valid API key." }, "model_unavailable", "refused"],
    [400, { details: [{ reason: "API_KEY_INVALID" }] }, "model_unavailable", "refused"],
    [400, { status: "FAILED_PRECONDITION", message: "User location" }, "model_unavailable", "refused"],
    [403, { status: "PERMISSION_DENIED" }, "model_unavailable", "refused"],
    [404, { status: "NOT_FOUND" }, "model_unavailable", "refused"],
    [400, { status: "INVALID_ARGUMENT" }, "provider_rejected_input", "refused"],
    [500, { status: "INTERNAL" }, "provider_error", "unknown"],
    [504, { status: "DEADLINE_EXCEEDED" }, "provider_error", "unknown"],
  ])("%i %o means %s, %s", async (status, error, code, kind) => {
    expect(await refused(status, error)).toMatchObject({ code, kind });
  });

  it("of status 503 from a proxy leaves the outcome unknown", async () => {
    fakeVendor.switches.refuse = { times: 1, status: 503, body: "upstream connect error" };
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE))).toMatchObject({ kind: "unknown" });
  });

  it("to a wrong key or a retired model is model_unavailable", async () => {
    const other = context({ GEMINI_API_KEY: "other" });
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE, other))).toMatchObject({
      code: "model_unavailable",
      status: 400,
    });
    fakeVendor.switches.retired = [MAKE.upstreamModel];
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE))).toMatchObject({
      code: "model_unavailable",
      status: 404,
    });
  });

  it("that never comes leaves the outcome unknown, and the job is not sent again", async () => {
    fakeVendor.switches.hang = { times: 9, when: "after" };
    const hurried = context({}, { timeoutSeconds: 0.3 });
    expect(await thrownBy(submit(createSampleJob(MAKE), MAKE, hurried))).toMatchObject({ kind: "unknown" });
    expect(fakeVendor.ledger).toHaveLength(1);
    expect(await thrownBy(gemini.poll({}, context()))).toMatchObject({ code: "internal_error" });
  });
});

describe("the probe", () => {
  it("names retired models without creating jobs", async () => {
    expect(await gemini.probe!(gemini.offers, context())).toMatchObject({ missing: [] });
    fakeVendor.switches.retired = ["gemini-3.8-flash"];
    expect(await gemini.probe!(gemini.offers, context())).toMatchObject({ missing: ["gemini-3.8-flash"] });
    expect(await thrownBy(gemini.probe!(gemini.offers, context({ GEMINI_API_KEY: "other" })))).toMatchObject({
      code: "model_unavailable",
    });
    expect(fakeVendor.ledger).toEqual([]);
  });
});
