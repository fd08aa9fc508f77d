// What is believed of a callback: only what Replicate signed, in time, for this very attempt.
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { fakeReplicate as kit } from "../../../test/fake-vendors/replicate.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import type { ProviderContext } from "../provider.ts";
import { replicate } from "../replicate.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());

const CALLBACK = "http://127.0.0.1:9/callbacks/replicate/01990c3e-2f00-7000-8000-6f0c1a2b3c4d/0/1/proof";
it("a callback is requested only at a URL that the provider accepts", async () => {
  const sent: string[] = [];
  const send: ProviderContext<unknown>["send"] = async (_, { body }) => {
    sent.push(String(body));
    return { status: 201, header: () => undefined, text: JSON.stringify({ id: "p", status: "starting" }) };
  };
  const env = { REPLICATE_API_TOKEN: "t" };
  const offer = replicate.offers[0]!;
  for (const callbackUrl of [
    "http://gesso.example.com/callbacks/x",
    "https://gesso.example.com/callbacks/x",
    undefined,
  ]) {
    await replicate.submit(
      createSampleJob(offer),
      offer,
      createFakeProviderContext(env, replicate, { callbackUrl, send }),
    );
  }
  const webhooks = sent
    .map((body) => JSON.parse(body))
    .map(({ webhook, webhook_events_filter: events }) => [webhook, events]);
  expect(webhooks).toEqual([
    [undefined, undefined],
    ["https://gesso.example.com/callbacks/x", ["completed"]],
    [undefined, undefined],
  ]);
});

describe("a callback", () => {
  const SECRET = `whsec_${Buffer.from("quite another secret").toString("base64")}`;
  const told = { id: "p1", status: "succeeded", webhook: CALLBACK };
  const signed = (body: string, secret = SECRET, seconds = Date.now() / 1000) => {
    const time = String(Math.floor(seconds));
    const signature = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`m.${time}.${body}`)
      .digest("base64");
    const headers = new Headers({
      "webhook-id": "m",
      "webhook-timestamp": time,
      "webhook-signature": `v1,${signature}`,
    });
    return { headers, body };
  };
  const hear = (request: { headers: Headers; body: string }, callbackUrl = CALLBACK, env = {}) => {
    const settings = { ...kit.env(fakeVendor), REPLICATE_WEBHOOK_SECRET: SECRET, ...env };
    return replicate.parseCallback!(request, createFakeProviderContext(settings, replicate, { callbackUrl }));
  };

  it("is accepted with the provider's signature, and names the ticket of the submission", async () => {
    expect(await hear(signed(JSON.stringify(told)))).toEqual({ ticket: { id: "p1" }, ended: true });
    const running = JSON.stringify({ ...told, status: "processing", logs: " 25%|██ |" });
    expect(await hear(signed(running))).toEqual({ ticket: { id: "p1" }, ended: false, progress: 0.25 });
  });

  it("is accepted if one of several signatures is valid", async () => {
    const { headers, body } = signed(JSON.stringify(told));
    headers.set(
      "webhook-signature",
      `v1,AAAA v2,${headers.get("webhook-signature")} ${headers.get("webhook-signature")}`,
    );
    expect(await hear({ headers, body })).toMatchObject({ ended: true });
  });

  it("is refused if it is forged, old, changed, unsigned or for another attempt", async () => {
    const body = JSON.stringify(told);
    const now = Date.now() / 1000;
    expect(await hear(signed(body, `whsec_${Buffer.from("guessed").toString("base64")}`))).toBeUndefined();
    expect(await hear(signed(body, SECRET, now - 301))).toBeUndefined();
    expect(await hear(signed(body, SECRET, now + 301))).toBeUndefined();
    expect(await hear({ ...signed(body), body: body.replace("p1", "p2") })).toBeUndefined();
    expect(await hear({ headers: new Headers(), body })).toBeUndefined();
    expect(await hear(signed(body, "whsec_"), CALLBACK, { REPLICATE_WEBHOOK_SECRET: "whsec_" })).toBeUndefined();
    expect(await hear(signed(body), CALLBACK.replace("/0/1/", "/0/2/"))).toBeUndefined();
  });

  it("is verified with the provider's own secret if none is set, which is requested once", async () => {
    let asked = 0;
    const base = createFakeProviderContext(kit.env(fakeVendor), replicate, { callbackUrl: CALLBACK });
    const send: ProviderContext<unknown>["send"] = (url, request) => {
      asked += 1;
      return base.send(url, request);
    };
    const theirs = `whsec_${Buffer.from("a secret of the fake vendor").toString("base64")}`;
    const request = signed(JSON.stringify(told), theirs);
    expect(await replicate.parseCallback!(request, { ...base, send })).toMatchObject({ ended: true });
    expect(await replicate.parseCallback!(request, { ...base, send })).toMatchObject({ ended: true });
    expect(await replicate.parseCallback!(signed(JSON.stringify(told)), { ...base, send })).toBeUndefined();
    expect(asked).toBe(1);
  });
});
