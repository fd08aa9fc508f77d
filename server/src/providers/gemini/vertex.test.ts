// Vertex AI as a setting of the adapter: tokens of a service account, and models below a project and a location.
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { fakeVertexAi, vertexAccount } from "../../../test/fake-vendors/gemini.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { readProviderFailure } from "../call-provider.ts";
import { gemini } from "../gemini.ts";
import type { ProviderContext, SendRequest } from "../provider.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeVertexAi.start();
});
afterAll(() => fakeVendor.close());

const offer = gemini.offers.find(({ task }) => task === "image.generate")!;

/** Each account is another one, because tokens are used again. */
let number = 0;
const accountWith = (more: object = {}) => {
  const account = JSON.parse(vertexAccount(fakeVendor.url));
  return JSON.stringify({ ...account, token_uri: `${account.token_uri}?${++number}`, ...more });
};

function openContext(env: Record<string, string>, more: Partial<ProviderContext<unknown>> = {}) {
  const sent: { url: string; headers: Record<string, string> }[] = [];
  const plain = createFakeProviderContext({ ...fakeVertexAi.env(fakeVendor), ...env }, gemini, more);
  const send: SendRequest = (url, request) => {
    sent.push({ url, headers: request.headers });
    return plain.send(url, request);
  };
  return { sent, context: { ...plain, send } };
}
const submit = (context: ProviderContext<unknown>) => gemini.submit(createSampleJob(offer), offer, context);

it("a token is fetched once, and used for requests below the project and the location", async () => {
  const { sent, context } = openContext({ GEMINI_API_KEY: vertexAccount(fakeVendor.url) });
  await submit(context);
  expect(await submit(context)).toMatchObject({ state: "done" });
  const path = `/v1/projects/gesso-test/locations/europe-west4/publishers/google/models/${offer.upstreamModel}`;
  expect(sent.map(({ url }) => url.replace(fakeVendor.url, ""))).toEqual([
    ...["/token", `${path}:generateContent`, `${path}:generateContent`],
  ]);
  for (const { headers } of sent.slice(1)) {
    expect(headers.authorization).toMatch(/^Bearer ya29\./);
    expect(headers).not.toHaveProperty("x-goog-api-key");
  }
});

it("a token is fetched again before it ends", async () => {
  const minute = 60_000;
  let now = systemClock.now() - 55 * minute;
  const { sent, context } = openContext({ GEMINI_API_KEY: accountWith() }, { now: () => now });
  const counts: number[] = [];
  for (const minutes of [0, 40, 15]) {
    now += minutes * minute;
    expect(await submit(context)).toMatchObject({ state: "done" });
    counts.push(sent.filter(({ url }) => url.includes("/token")).length);
  }
  expect(counts).toEqual([1, 1, 2]);
});

it("the host is that of the location, unless another URL is set", async () => {
  for (const [location, host] of [
    ["global", "aiplatform.googleapis.com"],
    ["us-east4", "us-east4-aiplatform.googleapis.com"],
  ] as const) {
    const urls: string[] = [];
    const env = { GEMINI_API_KEY: vertexAccount(fakeVendor.url), GEMINI_VERTEX_LOCATION: location };
    const { context } = openContext({ ...env, GEMINI_BASE_URL: "https://generativelanguage.googleapis.com" });
    const send: SendRequest = (url, request) => {
      if (url.startsWith(fakeVendor.url)) return context.send(url, request);
      urls.push(url);
      return Promise.reject(new Error("not sent"));
    };
    await submit({ ...context, send }).catch(() => {});
    expect(urls.map((url) => new URL(url).host)).toEqual([host]);
  }
});

describe("an account that Google refuses", () => {
  const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const pem = otherKey.export({ type: "pkcs8", format: "pem" });
  it.each([
    ["with another key", () => accountWith({ private_key: pem }), {}],
    ["with a key that is none", () => accountWith({ private_key: "-----BEGIN PRIVATE KEY-----" }), {}],
    ["while our clock is wrong", () => accountWith(), { now: () => systemClock.now() - 86_400_000 }],
  ])("%s costs nothing, and another offer can do the work", async (_, key, more) => {
    const before = fakeVendor.ledger.length;
    const { context } = openContext({ GEMINI_API_KEY: key() }, more);
    const failure = readProviderFailure(await submit(context).catch((thrown: unknown) => thrown));
    expect(failure).toMatchObject({ kind: "refused", status: 401 });
    expect(fakeVendor.ledger).toHaveLength(before);
  });

  it("is a mistake of the settings if the JSON is no whole key", () => {
    const { private_key: _, ...rest } = JSON.parse(vertexAccount(fakeVendor.url));
    const parsed = gemini.env.safeParse({ GEMINI_API_KEY: JSON.stringify(rest) });
    expect(parsed.error?.issues[0]?.message).toBe("must be an API key, or the whole JSON key of a service account");
  });
});

it("the probe asks the list of models with a token", async () => {
  fakeVendor.switches.retired = ["gemini-3.8-flash"];
  const { context } = openContext({ GEMINI_API_KEY: vertexAccount(fakeVendor.url) });
  expect(await gemini.probe!(gemini.offers, context)).toMatchObject({ missing: ["gemini-3.8-flash"] });
  fakeVendor.switches.retired = [];
});

it("images are made at once, although the settings ask for the background, which Vertex AI does not have", async () => {
  const { context } = openContext({
    GEMINI_API_KEY: vertexAccount(fakeVendor.url),
    GEMINI_IMAGES: "interactions",
  });
  expect(await submit(context)).toMatchObject({ state: "done" });
  expect(gemini.callsBack!(context.env, offer)).toBe(false);
});
