// Callbacks of fal, from the fake vendor's own socket to ours: which are believed, and what ticket they bring.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { fakeFal as kit } from "../../../test/fake-vendors/fal.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { fal } from "../fal.ts";
import type { CallbackRequest, ProviderContext } from "../provider.ts";

let vendor: FakeVendor;
const heard: (CallbackRequest & { path: string })[] = [];
const listener = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const url = new URL(request.url!, "http://localhost");
    const headers = new Headers(request.headers as Record<string, string>);
    heard.push({ path: url.pathname, query: url.searchParams, headers, body: Buffer.concat(chunks).toString() });
    response.end("{}");
  });
});
const listenerUrl = () => `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;

beforeAll(async () => {
  vendor = await kit.start();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await vendor.close();
  await new Promise((resolve) => listener.close(resolve));
});

const contextOf = (overrides: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(kit.env(vendor), fal, overrides);

/** A job whose end fal tells us, and the ticket that the submission itself got. */
async function calledBack(upstreamModel = "fal-ai/sam-3/image", path = "/callbacks/fal/run/0/1/signature") {
  heard.length = 0;
  const offer = fal.offers.find((each) => each.upstreamModel === upstreamModel)!;
  const sent = await fal.submit(createSampleJob(offer), offer, contextOf({ callbackUrl: `${listenerUrl()}${path}` }));
  while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { request: heard[0]!, ticket: (sent as { ticket: Record<string, string> }).ticket };
}

const changed = (request: CallbackRequest, header: string, value: string): CallbackRequest => {
  const headers = new Headers(request.headers);
  headers.set(`x-fal-webhook-${header}`, value);
  return { ...request, headers };
};

describe("a callback", () => {
  it.each(["fal-ai/sam-3/image", "fal-ai/flux-pro/kontext/max", "openrouter/router"])(
    "of %s comes to the callback URL and yields the ticket of the submission",
    async (upstreamModel) => {
      const { request, ticket } = await calledBack(upstreamModel);
      expect(request.path).toBe("/callbacks/fal/run/0/1/signature");
      expect(await fal.parseCallback!(request, contextOf())).toEqual({ ticket, ended: true });
    },
  );

  it("is sufficient to read the result of a job whose submission was lost", async () => {
    heard.length = 0;
    vendor.ledger.length = 0;
    vendor.switches.drop = { times: 1, when: "after" };
    const offer = fal.offers.find((each) => each.upstreamModel === "fal-ai/sam-3/image")!;
    const context = contextOf({ callbackUrl: `${listenerUrl()}/callbacks` });
    await expect(fal.submit(createSampleJob(offer), offer, context)).rejects.toMatchObject({ code: "provider_error" });
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const word = await fal.parseCallback!(heard[0]!, contextOf());
    expect(word!.ticket).toMatchObject({
      id: vendor.ledger[0]!.id,
      upstreamModel: offer.upstreamModel,
      width: "64",
      height: "64",
    });
    expect(await fal.poll(word!.ticket, contextOf())).toMatchObject({ state: "done", outputs: [{ score: 0.9 }] });
    expect(vendor.ledger).toHaveLength(1);
  });

  it("is refused if another key signed it", async () => {
    vendor.switches.callbacks = "forged";
    const { request } = await calledBack();
    vendor.switches.callbacks = "once";
    expect(await fal.parseCallback!(request, contextOf())).toBeUndefined();
  });

  it("is refused if its body was changed", async () => {
    const { request } = await calledBack();
    const other = request.body.replace('"status":"OK"', '"status":"ERROR"');
    expect(other).not.toBe(request.body);
    expect(await fal.parseCallback!({ ...request, body: other }, contextOf())).toBeUndefined();
    expect(await fal.parseCallback!(changed(request, "user-id", "somebody"), contextOf())).toBeUndefined();
  });

  it.each([-301, 301])("is refused %i seconds from its timestamp", async (seconds) => {
    const { request, ticket } = await calledBack();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    try {
      expect(await fal.parseCallback!(request, contextOf())).toBeUndefined();
      vi.setSystemTime(Date.now() - seconds * 1000);
      expect(await fal.parseCallback!(request, contextOf())).toEqual({ ticket, ended: true });
    } finally {
      vi.useRealTimers();
    }
  });

  it("is refused with another timestamp", async () => {
    const { request } = await calledBack();
    const time = Number(request.headers.get("x-fal-webhook-timestamp"));
    expect(await fal.parseCallback!(changed(request, "timestamp", String(time + 1)), contextOf())).toBeUndefined();
    expect(await fal.parseCallback!(changed(request, "timestamp", "soon"), contextOf())).toBeUndefined();
  });

  it("yields only the job that its signature covers", async () => {
    const first = await calledBack();
    const second = await calledBack("fal-ai/flux/dev", "/callbacks/fal/run/0/2/other");
    const replayed = { ...first.request, query: second.request.query! };
    expect((await fal.parseCallback!(replayed, contextOf()))!.ticket.id).toBe(first.ticket.id);
    const renamed = first.request.body.replaceAll(first.ticket.id!, second.ticket.id!);
    expect(await fal.parseCallback!({ ...first.request, body: renamed }, contextOf())).toBeUndefined();
    const swapped = changed(first.request, "request-id", second.ticket.id!);
    expect(await fal.parseCallback!(swapped, contextOf())).toBeUndefined();
  });

  it.each([
    ["nothing", ""],
    ["no such task", "upstreamModel=fal-ai/flux/dev&task=image.fly"],
    ["a way out of the queue", "upstreamModel=fal-ai/../../admin&task=image.generate"],
    ["another host", "upstreamModel=https://evil.example&task=image.generate"],
  ])("with %s in its query is refused", async (_, query) => {
    const { request } = await calledBack();
    expect(await fal.parseCallback!({ ...request, query: new URLSearchParams(query) }, contextOf())).toBeUndefined();
  });

  it("without a signature is refused", async () => {
    const { request } = await calledBack();
    expect(await fal.parseCallback!({ ...request, headers: new Headers() }, contextOf())).toBeUndefined();
  });

  it("costs one request for fal's keys a day", async () => {
    const { request } = await calledBack();
    const plain = contextOf();
    let looks = 0;
    const send: ProviderContext<unknown>["send"] = (url, options) => {
      looks += url.includes("jwks") ? 1 : 0;
      return plain.send(url, options);
    };
    await fal.parseCallback!(request, { ...plain, send });
    await fal.parseCallback!(request, { ...plain, send });
    expect(looks).toBe(0);
  });
});
