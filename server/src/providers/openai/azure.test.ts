// Azure OpenAI as a setting of the adapter: the same requests as those of OpenAI's own client for Azure.
import { AzureOpenAI } from "openai/azure";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { fakeAzureOpenai } from "../../../test/fake-vendors/openai.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import type { Task } from "../../contract/operation.ts";
import { readProviderFailure } from "../call-provider.ts";
import { openai } from "../openai.ts";
import type { SendRequest } from "../provider.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeAzureOpenai.start();
});
afterAll(() => fakeVendor.close());

const FLARE = "gpt-image-2.5-flare";
const offerFor = (task: Task) =>
  openai.offers.find((each) => each.task === task && (task === "prompt.enhance" || each.upstreamModel === FLARE))!;

/** What the adapter sends for a job, with the settings of the fake and some others. */
async function listSent(task: Task, env: Record<string, string> = {}) {
  const sent: { url: string; headers: Record<string, string>; body: unknown }[] = [];
  const plain = createFakeProviderContext({ ...fakeAzureOpenai.env(fakeVendor), ...env }, openai);
  const send: SendRequest = (url, request) => {
    const { body } = request;
    const fields = body instanceof FormData ? { model: body.get("model") } : JSON.parse(String(body));
    sent.push({ url, headers: request.headers, body: fields });
    return plain.send(url, request);
  };
  const offer = offerFor(task);
  const outcome = await openai.submit(createSampleJob(offer), offer, { ...plain, send }).catch(readProviderFailure);
  return { sent, outcome };
}

it.each([
  ["image.generate", "deployments/our-flare/images/generations", "our-flare"],
  ["image.edit", "deployments/our-flare/images/edits", "our-flare"],
  ["prompt.enhance", "responses", "gpt-5.6-luna"],
] as const)(
  "%s goes where OpenAI's client for Azure sends it, with the same credentials",
  async (task, path, model) => {
    const { sent, outcome } = await listSent(task, { OPENAI_AZURE_DEPLOYMENTS: ` ${FLARE} = our-flare, other=` });
    expect(outcome).toMatchObject({ state: "done" });
    expect(sent).toHaveLength(1);
    const [{ url, headers, body }] = sent as [(typeof sent)[number]];
    expect(url).toBe(`${fakeVendor.url}/azure/openai/${path}?api-version=2025-04-01-preview`);
    expect(headers["api-key"]).toBe("sk-fake");
    expect(headers).not.toHaveProperty("authorization");
    expect(body).toMatchObject({ model });

    const seen: { url: string; headers: Headers }[] = [];
    const client = new AzureOpenAI({
      ...{ apiKey: "sk-fake", apiVersion: "2025-04-01-preview", maxRetries: 0 },
      baseURL: `${fakeVendor.url}/azure/openai`,
      fetch: async (target, init) => {
        seen.push({ url: String(target), headers: new Headers(init?.headers) });
        return Response.json({ data: [], output: [] });
      },
    });
    const image = new File([new Uint8Array(1)], "image.png", { type: "image/png" });
    if (task === "image.generate") await client.images.generate({ model, prompt: "a boat" });
    else if (task === "image.edit") await client.images.edit({ model, prompt: "a boat", image });
    else await client.responses.create({ model, input: "a boat" });
    // The client also tries with an empty URL whether the function takes forms.
    const own = seen.find((each) => each.url.startsWith("http"))!;
    expect(own.url).toBe(url);
    expect(own.headers.get("api-key")).toBe(headers["api-key"]);
    expect(own.headers.get("authorization")).toBeNull();
  },
);

it.each([
  ["a wrong key", { OPENAI_API_KEY: "wrong" }, 401],
  ["another version", { OPENAI_AZURE_API_VERSION: "2023-01-01" }, 404],
  ["a deployment that does not exist", { OPENAI_AZURE_DEPLOYMENTS: `${FLARE}=nowhere` }, 404],
])("%s costs nothing, and another offer can do the work", async (_, env, status) => {
  const before = fakeVendor.ledger.length;
  const { outcome } = await listSent("image.generate", env);
  expect(outcome).toMatchObject({ kind: "refused", status });
  expect(fakeVendor.ledger).toHaveLength(before);
});

it("the probe tests the key, and asks about no deployment, because no free request tells them", async () => {
  const context = createFakeProviderContext(fakeAzureOpenai.env(fakeVendor), openai);
  const offers = openai.offers.filter(({ task }) => task === "image.generate");
  expect(await openai.probe!(offers, context)).toEqual({
    ...{ message: "The key works at Azure.", missing: [] },
    unasked: [FLARE, "gpt-image-1.5"],
  });
});
