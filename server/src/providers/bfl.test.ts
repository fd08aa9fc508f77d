// The adapter of Black Forest Labs against its fake vendor: what reaches the provider, what each of its answers means
// to us, and where its key never goes.

import { createHmac } from "node:crypto";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startFakeBfl, fakeBfl as vendor } from "../../test/fake-vendors/bfl.ts";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { colourFromText } from "../../test/fake-vendors/result-files.ts";
import { createImageAsset, createMaskAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import { until } from "../../test/support/until.ts";
import type { Job } from "../contract/operation.ts";
import type { Fault } from "../faults/faults.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { bfl } from "./bfl.ts";
import { readProviderFailure } from "./call-provider.ts";
import type { Asset, JobDone, Offer, ProviderContext, SendRequest, Ticket } from "./provider.ts";

let fakeVendor: FakeVendor;
beforeEach(async () => {
  fakeVendor = await vendor.start();
});
afterEach(() => fakeVendor.close());

const context = (overrides: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(vendor.env(fakeVendor), bfl, overrides);
const offer = (task: string, model: string, upstreamModel?: string) =>
  bfl.offers.find(
    (each) =>
      each.task === task && each.model === model && (upstreamModel ?? each.upstreamModel) === each.upstreamModel,
  )!;
const DEV = () => offer("image.generate", "flux-dev");
const KONTEXT = () => offer("image.edit", "flux-kontext-max");
const FILL = () => offer("image.edit", "edit-default", "flux-pro-1.0-fill");
const ERASE = () => offer("image.remove", "remove-default");

/** As the run does it. */
const submit = (job: Job<Asset>, offer: Offer, using: ProviderContext<unknown>) =>
  bfl.submit(adjustParameters(job, offer).job, offer, using);
const running = (progress: { state: string; ticket?: Ticket }) => {
  expect(progress.state).toBe("running");
  return progress.ticket!;
};
async function ended(ticket: Ticket, within = context()): Promise<JobDone> {
  for (;;) {
    const progress = await bfl.poll(ticket, within);
    if (progress.state === "done") return progress;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const faultOf = async (work: Promise<unknown>) => {
  const thrown = (await work.then(
    () => undefined,
    (fault) => fault,
  )) as Fault;
  return [thrown?.code, readProviderFailure(thrown).kind];
};
const base64 = async (asset: { bytes(): Promise<Uint8Array> }) => Buffer.from(await asset.bytes()).toString("base64");
const asked = () => fakeVendor.ledger.at(-1)!;

describe("a submission", () => {
  it("sends flux-dev its size, steps and guidance, within its bounds", async () => {
    const options = { guidance: 7.5, steps: 80, scheduler: "ignored" };
    await submit(createSampleJob(DEV(), { width: 768, height: 512, seed: 7, options }), DEV(), context());
    expect(asked()).toMatchObject({ model: "flux-dev" });
    expect(asked().request).toEqual({
      prompt: "a red bicycle by the sea",
      width: 768,
      height: 512,
      steps: 50,
      guidance: 5,
      seed: 7,
      output_format: "png",
    });
  });

  it("keeps the aspect ratio of the source of an edit if none was requested", async () => {
    const images = [createImageAsset("desk", 80, 40)];
    const ticket = running(await submit(createSampleJob(KONTEXT(), { images }), KONTEXT(), context()));
    expect(asked().request).toEqual({
      prompt: "make it night",
      input_image: await base64(images[0]!),
      output_format: "png",
    });
    const { outputs } = await ended(ticket);
    const { width, height } = await sharp(await read(outputs)).metadata();
    expect([width, height]).toEqual([80, 40]);
  });

  it("numbers the images of flux-kontext-multi", async () => {
    const multi = offer("image.generate", "flux-kontext-multi");
    const images = [createImageAsset("a"), createImageAsset("b"), createImageAsset("c")];
    await submit(createSampleJob(multi, { images, aspect_ratio: "4:5" }), multi, context());
    expect(asked().model).toBe("flux-kontext-max");
    expect(asked().request).toMatchObject({
      input_image: await base64(images[0]!),
      input_image_2: await base64(images[1]!),
      input_image_3: await base64(images[2]!),
      aspect_ratio: "4:5",
    });
  });

  it.each([
    ["flux-pro-1.0-fill", FILL, { prompt: "a plant" }],
    ["flux-tools/erase-v1", ERASE, {}],
  ])("sends the mask to %s unchanged: white is painted", async (model, of, words) => {
    const images = [createImageAsset("desk")];
    const ticket = running(
      await submit(createSampleJob(of(), { images, mask: createMaskAsset(), prompt: "a plant" }), of(), context()),
    );
    expect(asked().model).toBe(model);
    expect(asked().request).toEqual({
      image: await base64(images[0]!),
      mask: await base64(createMaskAsset()),
      output_format: "png",
      ...words,
    });
    const { data } = await sharp(await read((await ended(ticket)).outputs))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) => [...data.subarray((y * 64 + x) * 3, (y * 64 + x) * 3 + 3)];
    expect(at(1, 1)).toEqual(Object.values(colourFromText("desk")));
    expect(at(32, 32)).not.toEqual(at(1, 1));
  });

  it("is valid for every offer", async () => {
    for (const each of bfl.offers) await ended(running(await submit(createSampleJob(each), each, context())));
    expect(fakeVendor.ledger).toHaveLength(bfl.offers.length);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("serves masks only with models that accept one, and no custom models", () => {
    const job = (more: object) => ({ images: [1], mask: undefined, options: undefined, ...more });
    expect(ERASE().supports?.(job({}))).toBe(false);
    expect(FILL().supports?.(job({ mask: 1 }))).toBe(true);
    expect(KONTEXT().limits?.mask).toBe(false);
    expect(DEV().supports?.(job({ options: { model_id: "mine" } }))).toBe(false);
  });
});

const read = async (outputs: JobDone["outputs"]) =>
  Buffer.from(await (await fetch((outputs[0] as { url: string }).url)).arrayBuffer());

describe("a response", () => {
  it.each([
    ["moderated", "a cat", ["content_refused", "refused"]],
    ["done", "something forbidden", ["content_refused", "refused"]],
    ["failed", "a cat", ["provider_error", "failed"]],
  ] as const)("of a job that ends %s (%s) becomes the right fault", async (outcome, prompt, fault) => {
    fakeVendor.switches.outcome = outcome;
    const ticket = running(await submit(createSampleJob(DEV(), { prompt }), DEV(), context()));
    expect(await faultOf(ended(ticket))).toEqual(fault);
  });

  it.each([
    [400, ["provider_rejected_input", "refused"]],
    [402, ["model_unavailable", "refused"]],
    [403, ["model_unavailable", "refused"]],
    [422, ["provider_rejected_input", "refused"]],
    [429, ["provider_error", "busy"]],
    [500, ["provider_error", "unknown"]],
  ] as const)("of status %i becomes the right fault", async (status, fault) => {
    fakeVendor.switches.refuse = { times: 1, status };
    expect(await faultOf(submit(createSampleJob(DEV()), DEV(), context()))).toEqual(fault);
    expect(fakeVendor.ledger).toEqual([]);
  });

  it("to a wrong key or a retired model is model_unavailable", async () => {
    const wrong = createFakeProviderContext({ ...vendor.env(fakeVendor), BFL_API_KEY: "wrong" }, bfl);
    expect(await faultOf(submit(createSampleJob(DEV()), DEV(), wrong))).toEqual(["model_unavailable", "refused"]);
    fakeVendor.switches.retired = ["flux-dev"];
    expect(await faultOf(submit(createSampleJob(DEV()), DEV(), context()))).toEqual(["model_unavailable", "refused"]);
  });

  it("to the seventh concurrent Kontext Max job is busy", async () => {
    fakeVendor.switches.outcome = "never";
    for (let n = 0; n < 6; n++) await submit(createSampleJob(KONTEXT()), KONTEXT(), context());
    expect(await faultOf(submit(createSampleJob(KONTEXT()), KONTEXT(), context()))).toEqual(["provider_error", "busy"]);
  });

  it("that is lost leaves the outcome unknown, and the job is not sent again", async () => {
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await faultOf(submit(createSampleJob(DEV()), DEV(), context()))).toEqual(["provider_error", "unknown"]);
    expect(fakeVendor.ledger).toHaveLength(1);
  });

  it("contains the progress of a running job", async () => {
    fakeVendor.switches.workMs = 60_000;
    const ticket = running(await submit(createSampleJob(DEV()), DEV(), context()));
    let progress = await bfl.poll(ticket, context());
    // A job is queued at first.
    await until(async () => {
      progress = await bfl.poll(ticket, context());
      return progress.state !== "running" || progress.progress !== undefined;
    });
    expect(progress).toEqual({ state: "running", ticket, progress: 0.5 });
  });

  it("that does not know the job at its own polling URL is a failure", async () => {
    const ticket = running(await submit(createSampleJob(DEV()), DEV(), context()));
    fakeVendor.forgetJobs();
    expect(await faultOf(bfl.poll(ticket, context()))).toEqual(["provider_error", "failed"]);
  });
});

describe("hosts of a region", () => {
  /** The provider's regional host leads to the fake vendor; what went where is written down. */
  const throughRegion = (
    region: string,
    seen: [url: string, key: string | undefined][],
  ): Partial<ProviderContext<unknown>> => ({
    send: ((url, request) => {
      seen.push([url, request.headers["x-key"]]);
      return context().send(url.replace(region, fakeVendor.url), request);
    }) as SendRequest,
  });

  it("are polled with the key if the response names a host of the provider", async () => {
    await fakeVendor.close();
    fakeVendor = await startFakeBfl({ pollingOrigin: "https://api.eu2.bfl.ai" });
    const seen: [string, string | undefined][] = [];
    const within = context(throughRegion("https://api.eu2.bfl.ai", seen));
    await ended(running(await submit(createSampleJob(DEV()), DEV(), within)), within);
    expect(seen.at(-1)).toEqual([expect.stringMatching(/^https:\/\/api\.eu2\.bfl\.ai\/v1\/get_result/), "bfl_fake"]);
  });

  it.each([
    "https://evil.example.com/v1/get_result?id=1",
    "https://bfl.ai.evil.example.com/v1/get_result?id=1",
    "https://evilbfl.ai/v1/get_result?id=1",
    "http://api.eu.bfl.ai/v1/get_result?id=1",
    "https://api.eu.bfl.ai:8443/v1/get_result?id=1",
    "not an address",
  ])("are not contacted at %s", async (polling_url) => {
    const { ticket } = (await submit(createSampleJob(DEV()), DEV(), context())) as { ticket: Ticket };
    const seen: [string, string | undefined][] = [];
    await ended({ ...ticket, polling_url }, context(throughRegion("nowhere", seen)));
    expect(seen.every(([url]) => url.startsWith(`${fakeVendor.url}/v1/get_result?id=${ticket.id}`))).toBe(true);
  });

  it("are all searched for a job known only by its ID; a job found nowhere counts as running", async () => {
    const asked: string[] = [];
    const send: SendRequest = async (url) => {
      asked.push(new URL(url).host);
      const isHere = url.startsWith("https://api.us.bfl.ai") && asked.length <= 3;
      const text = isHere
        ? JSON.stringify({ id: "1", status: "Pending", progress: 0.2 })
        : JSON.stringify({ id: "1", status: "Task not found" });
      return { status: isHere ? 200 : 404, header: () => undefined, text };
    };
    const real = createFakeProviderContext({ BFL_API_KEY: "k" }, bfl, { send });
    expect(await bfl.poll({ id: "1" }, real)).toMatchObject({ state: "running", progress: 0.2 });
    expect(asked).toEqual(["api.bfl.ai", "api.eu.bfl.ai", "api.us.bfl.ai"]);
    expect(await bfl.poll({ id: "1" }, real)).toEqual({ state: "running", ticket: { id: "1" } });
  });

  it("that all do not know a job end it after two minutes, without a callback", async () => {
    const notFound = { status: 404, header: () => undefined, text: JSON.stringify({ status: "Task not found" }) };
    const after = (submittedSeconds: number) =>
      createFakeProviderContext({ BFL_API_KEY: "k" }, bfl, { send: async () => notFound, submittedSeconds });
    expect(await bfl.poll({ id: "1" }, after(119))).toEqual({ state: "running", ticket: { id: "1" } });
    expect(await faultOf(bfl.poll({ id: "1" }, after(120)))).toEqual(["provider_outcome_unknown", "failed"]);
  });
});

describe("callbacks", () => {
  const callbackUrl = "http://127.0.0.1:9/callbacks/bfl";
  const told = (headers: Record<string, string>, body: object, within = context()) =>
    bfl.parseCallback!({ headers: new Headers(headers), body: JSON.stringify(body) }, within);

  it("carry a secret of the attempt, and yield the same ticket as the submission", async () => {
    const ticket = running(await submit(createSampleJob(DEV()), DEV(), context({ callbackUrl })));
    const { webhook_url, webhook_secret } = asked().request as Record<string, string>;
    expect(webhook_url).toBe(callbackUrl);
    const body = { id: ticket.id, status: "Ready", result: { sample: "https://delivery.eu1.bfl.ai/x.png" } };
    const word = await told({ "x-webhook-secret": webhook_secret! }, body);
    expect(word).toMatchObject({ ticket, ended: true });
    expect((await ended(word!.ticket)).outputs).toHaveLength(1);
  });

  it("are accepted with a signature, or by their URL alone if the provider sends neither", async () => {
    await submit(createSampleJob(DEV()), DEV(), context({ callbackUrl }));
    const secret = asked().request.webhook_secret as string;
    const body = { id: "1", status: "Pending" };
    const signature = createHmac("sha256", secret).update(JSON.stringify(body)).digest("hex");
    expect(await told({ "x-bfl-signature": `sha256=${signature}` }, body)).toEqual({
      ticket: { id: "1" },
      ended: false,
    });
    expect(await told({}, body)).toBeDefined();
  });

  const withoutRequests = () =>
    context({ send: () => Promise.reject(new Error("the result is known, so nothing is requested")) });
  const sample = "https://delivery.eu1.bfl.ai/x.png";

  it("are the result of a job, which is then not requested", async () => {
    const ready = await told({}, { id: "1", status: "Ready", result: { sample } });
    expect(await bfl.poll({ ...ready!.ticket, ...ready!.outcome }, withoutRequests())).toEqual({
      state: "done",
      outputs: [{ url: sample }],
    });
  });

  it.each([
    ["Request Moderated", ["content_refused", "refused"]],
    ["Content Moderated", ["content_refused", "refused"]],
    ["Error", ["provider_error", "failed"]],
    ["Failed", ["provider_error", "failed"]],
  ] as const)("with the status %s are the failure of the job", async (status, fault) => {
    const word = await told({}, { id: "1", status, result: null });
    expect(await faultOf(bfl.poll({ ...word!.ticket, ...word!.outcome }, withoutRequests()))).toEqual(fault);
  });

  it.each([
    ["Pending", { sample }],
    ["Ready", null],
    ["Ready", { sample: 7 }],
    ["Task not found", null],
  ])("with the status %s and the result %j only trigger a request", async (status, result) => {
    const word = await told({}, { id: "1", status, result });
    expect(word).toEqual({ ticket: { id: "1" }, ended: status !== "Pending" });
  });

  it("are refused with a wrong secret, a wrong signature, or the secret of another attempt", async () => {
    await submit(createSampleJob(DEV()), DEV(), context({ callbackUrl }));
    const secret = asked().request.webhook_secret as string;
    const body = { id: "1", status: "Ready" };
    expect(await told({ "x-webhook-secret": "somebody-else" }, body)).toBeUndefined();
    expect(await told({ "x-bfl-signature": `sha256=${"0".repeat(64)}` }, body)).toBeUndefined();
    expect(await told({ "x-webhook-secret": secret }, body, context({ key: "another-attempt" }))).toBeUndefined();
  });
});

describe("the probe", () => {
  it("reports credits and retired models without creating a job", async () => {
    fakeVendor.switches.retired = ["flux-dev"];
    expect(await bfl.probe!(bfl.offers, context())).toEqual({
      message: "the key works; 1234.5 credits are left",
      missing: ["flux-dev"],
    });
    expect(fakeVendor.ledger).toEqual([]);
  });

  it("fails with a wrong key", async () => {
    const wrong = createFakeProviderContext({ ...vendor.env(fakeVendor), BFL_API_KEY: "wrong" }, bfl);
    expect(await faultOf(bfl.probe!(bfl.offers, wrong))).toEqual(["model_unavailable", "refused"]);
  });
});
