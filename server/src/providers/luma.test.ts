// The adapter of Luma against its fake vendor: what is sent, what its answers mean, and how a lost generation is found
// again.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeLuma as vendor } from "../../test/fake-vendors/luma.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { createImageAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import type { Fault } from "../faults/faults.ts";
import { readProviderFailure } from "./call-provider.ts";
import { luma } from "./luma.ts";
import type { JobDone, ProviderContext, SendRequest, Ticket } from "./provider.ts";

let fakeVendor: FakeVendor;
beforeEach(async () => {
  fakeVendor = await vendor.start();
});
afterEach(() => fakeVendor.close());

const callbackUrl = "http://127.0.0.1:9/callbacks/luma/run/0/1?signature=abc";
const context = (overrides: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(vendor.env(fakeVendor), luma, { isPublicUrlReachable: true, callbackUrl, ...overrides });
const offer = (model: string) => luma.offers.find((each) => each.model === model)!;
const PHOTON = () => offer("photon-1");

const submit = async (more: object = {}, within = context()) =>
  ((await luma.submit(createSampleJob(PHOTON(), more), PHOTON(), within)) as { ticket: Ticket }).ticket;
async function ended(ticket: Ticket): Promise<JobDone> {
  for (;;) {
    const progress = await luma.poll(ticket, context());
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
const asked = () => fakeVendor.ledger.at(-1)!.request;

describe("a submission", () => {
  it("names the image by its URL, and the aspect ratio as the caller gave it", async () => {
    const desk = createImageAsset("desk");
    const options = {
      grid_position_x: 10,
      grid_position_y: 0,
      x_start: -8,
      x_end: 72,
      y_start: 0,
      y_end: 64,
      other: 1,
    };
    const ticket = await submit({ images: [desk], prompt: "more of the room", aspect_ratio: "9:21", options });
    const { other: _, ...frame } = options;
    expect(asked()).toEqual({
      generation_type: "reframe_image",
      model: "photon-1",
      media: { url: await desk.url() },
      aspect_ratio: "9:21",
      prompt: "more of the room",
      ...frame,
      callback_url: callbackUrl,
    });
    expect((await ended(ticket)).outputs).toEqual([{ url: expect.stringContaining("/files/") }]);
  });

  it("of a video begins with the image", async () => {
    const video = offer("video-default");
    const job = createSampleJob(video, { options: { duration: 9, fps: 24 } });
    const { ticket } = (await luma.submit(job, video, context())) as { ticket: Ticket };
    expect(asked()).toEqual({
      generation_type: "video",
      model: "ray-2",
      prompt: "it moves",
      keyframes: { frame0: { type: "image", url: await job.images![0]!.url() } },
      aspect_ratio: "16:9",
      duration: "9s",
      callback_url: callbackUrl,
    });
    expect((await ended(ticket)).outputs).toHaveLength(1);
  });

  it("of a video from a text alone has no image, and needs no URL that Luma can fetch", async () => {
    const video = offer("video-default");
    const job = { ...createSampleJob(video, { options: { duration: 5 } }), images: undefined };
    const within = context({ isPublicUrlReachable: false, callbackUrl: undefined });
    await luma.submit(job, video, within);
    expect(asked()).toEqual({
      generation_type: "video",
      model: "ray-2",
      prompt: "it moves",
      aspect_ratio: "16:9",
      duration: "5s",
    });
  });

  it("is not sent if Luma cannot fetch the image", async () => {
    const within = context({ isPublicUrlReachable: false, callbackUrl: undefined });
    expect(await faultOf(submit({}, within))).toEqual(["model_unavailable", "refused"]);
    expect(fakeVendor.ledger).toEqual([]);
  });

  it("is valid for every offer", async () => {
    for (const each of luma.offers) await luma.submit(createSampleJob(each), each, context());
    expect(fakeVendor.ledger).toHaveLength(luma.offers.length);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });
});

describe("a response", () => {
  it.each([
    ["moderated", ["content_refused", "refused"]],
    ["failed", ["provider_error", "failed"]],
  ] as const)("of a generation that ends %s becomes the right fault", async (outcome, fault) => {
    fakeVendor.switches.outcome = outcome;
    expect(await faultOf(ended(await submit()))).toEqual(fault);
  });

  it("about a moderated prompt is content_refused, and no job exists", async () => {
    expect(await faultOf(submit({ prompt: "something forbidden" }))).toEqual(["content_refused", "refused"]);
    expect(fakeVendor.ledger).toEqual([]);
  });

  it.each([
    [400, { detail: "Insufficient credits" }, ["model_unavailable", "refused"]],
    [400, { detail: "Failed to download the media" }, ["provider_rejected_input", "refused"]],
    [401, undefined, ["model_unavailable", "refused"]],
    [422, undefined, ["provider_rejected_input", "refused"]],
    [429, undefined, ["provider_error", "busy"]],
    [500, undefined, ["provider_error", "unknown"]],
  ] as const)("of status %i %o becomes the right fault", async (status, body, fault) => {
    fakeVendor.switches.refuse = { times: 1, status, ...(body && { body }) };
    expect(await faultOf(submit())).toEqual(fault);
  });

  it("about a retired model is model_unavailable", async () => {
    fakeVendor.switches.retired = ["photon-1"];
    expect(await faultOf(submit())).toEqual(["model_unavailable", "refused"]);
  });

  it("of a running generation is polled again", async () => {
    fakeVendor.switches.workMs = 60_000;
    const ticket = await submit();
    expect(await luma.poll(ticket, context())).toEqual({ state: "running", ticket });
  });

  it("to a cancellation ends the generation as failed", async () => {
    fakeVendor.switches.workMs = 60_000;
    const ticket = await submit();
    await luma.cancel!(ticket, context());
    expect(fakeVendor.ledger[0]?.canceledAt).toBeDefined();
    expect(await faultOf(luma.poll(ticket, context()))).toEqual(["provider_error", "failed"]);
  });
});

describe("a lost submission", () => {
  it("has an unknown outcome, and is found by its callback path, also after the public URL changed", async () => {
    expect(await luma.findJob!(context())).toBeUndefined();
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await faultOf(submit())).toEqual(["provider_error", "unknown"]);
    for (let n = 0; n < 3; n++) await submit({}, context({ callbackUrl: `${callbackUrl}${n}` }));
    const moved = callbackUrl.replace("127.0.0.1:9", "gesso.example.com");
    expect(await luma.findJob!(context({ callbackUrl: moved }))).toEqual({ id: fakeVendor.ledger[0]!.id });
    expect(await luma.findJob!(context({ callbackUrl: `${callbackUrl}x` }))).toBeUndefined();
  });

  it.each(["newest", "oldest"] as const)(
    "is found on the second page of a list that begins with the %s",
    async (first) => {
      const all = Array.from({ length: 250 }, (_, n) => ({
        id: `${n}`,
        created_at: new Date(n * 1000).toISOString(),
        request: { callback_url: n === 120 ? null : `https://gesso.example.com/${n}` },
      }));
      const ours = first === "newest" ? 149 : 200;
      all[ours]!.request.callback_url = callbackUrl;
      const list = first === "newest" ? all.toReversed() : all;
      const send: SendRequest = async (url) => {
        const offset = Number(new URL(url).searchParams.get("offset"));
        const page = { generations: list.slice(offset, offset + 100), count: 250, has_more: offset + 100 < 250 };
        return { status: 200, header: () => undefined, text: JSON.stringify(page) };
      };
      expect(await luma.findJob!(context({ send }))).toEqual({ id: `${ours}` });
    },
  );
});

describe("callbacks", () => {
  it.each([
    ["dreaming", false],
    ["completed", true],
    ["failed", true],
  ])("of a generation that is %s are read", async (state, isEnd) => {
    const body = JSON.stringify({ id: "1", state, assets: null, failure_reason: null });
    const word = await luma.parseCallback!({ headers: new Headers(), body }, context());
    expect(word).toEqual({ ticket: { id: "1" }, ended: isEnd });
  });

  it("yield the same ticket as the submission", async () => {
    const ticket = await submit();
    const told = await fetch(`${vendor.env(fakeVendor).LUMA_BASE_URL}/generations/${ticket.id}`, {
      headers: { authorization: `Bearer ${vendor.env(fakeVendor).LUMA_API_KEY}` },
    });
    const word = await luma.parseCallback!({ headers: new Headers(), body: await told.text() }, context());
    expect(word?.ticket).toEqual(ticket);
  });
});

it("the probe reads only the credit balance", async () => {
  expect(await luma.probe!(luma.offers, context())).toEqual({
    message: "the key works; 12.50 US dollars are left",
    missing: [],
    unasked: ["photon-1", "photon-flash-1", "ray-2"],
  });
  const wrong = createFakeProviderContext({ ...vendor.env(fakeVendor), LUMA_API_KEY: "wrong" }, luma);
  expect(await faultOf(luma.probe!(luma.offers, wrong))).toEqual(["model_unavailable", "refused"]);
});

it("the list of jobs has the keys of callback URLs, and ends where the period begins", async () => {
  const run = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
  const ours = `https://gesso.example.com/callbacks/luma/${run}/0/2/proof`;
  const list = Array.from({ length: 250 }, (_, n) => ({
    id: `${n}`,
    created_at: new Date((250 - n) * 1000).toISOString(),
    request: { callback_url: n === 120 ? ours : null },
  }));
  const send: SendRequest = async (url) => {
    const offset = Number(new URL(url).searchParams.get("offset"));
    const page = { generations: list.slice(offset, offset + 100), count: 250, has_more: offset + 100 < 250 };
    return { status: 200, header: () => undefined, text: JSON.stringify(page) };
  };
  const since = new Date(100_000);
  const first = await luma.listJobs!({ since, next: undefined }, context({ send }));
  expect(first.next).toBe("100");
  const second = await luma.listJobs!({ since, next: first.next }, context({ send }));
  expect(second.next).toBeUndefined();
  expect(second.jobs.filter(({ key }) => key)).toEqual([
    { ticket: { id: "120" }, key: `${run}.0.2`, created_at: list[120]!.created_at },
  ]);
});
