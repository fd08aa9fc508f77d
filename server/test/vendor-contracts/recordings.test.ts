// Recordings against the fakes, and their replays: what the adapter makes of an answer, and what it sends differently.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { adjustParameters } from "../../src/providers/adjust-parameters.ts";
import { providers } from "../../src/providers/all.ts";
import type { JobDone, Offer, Provider } from "../../src/providers/provider.ts";
import { requiredSettings } from "../../src/providers/server-setup.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { fakeGemini } from "../fake-vendors/gemini.ts";
import { fakeOpenai } from "../fake-vendors/openai.ts";
import { createFakeProviderContext } from "../fake-vendors/provider-context.ts";
import { fakeReplicate } from "../fake-vendors/replicate.ts";
import { createSampleJob } from "../fake-vendors/sample-jobs.ts";
import { recordOffer } from "./record.ts";
import { createRecorder, type Recording, startReplay } from "./recordings.ts";

const KITS = [fakeFal, fakeGemini, fakeOpenai, fakeReplicate];
const MODELS: [id: string, upstreamModel: string, task: string][] = [
  ["fal", "fal-ai/flux/dev", "image.generate"],
  ["fal", "google/nano-banana-2.1/edit", "image.edit"],
  ["gemini", "gemini-nano-banana-2.1", "image.edit"],
  ["openai", "gpt-image-2.5-flare", "image.edit"],
  ["openai", "gpt-5.6-luna", "prompt.enhance"],
  ["replicate", "black-forest-labs/flux-dev", "image.generate"],
];

const find = (id: string, upstreamModel: string, task: string) => {
  const provider = providers.find((each) => each.id === id)!;
  return {
    provider,
    offer: provider.offers.find((each) => each.upstreamModel === upstreamModel && each.task === task)!,
  };
};

async function record(id: string, upstreamModel: string, task: string, most = 2) {
  const kit = KITS.find((each) => each.id === id)!;
  const vendor = await kit.start();
  onTestFinished(() => vendor.close());
  const { provider, offer } = find(id, upstreamModel, task);
  const env = kit.env(vendor);
  return {
    ...{ env, vendor, provider, offer },
    recording: await recordOffer(provider, offer, most, { env, pollMs: 20 }),
  };
}

async function replay(recording: Recording, keys: Record<string, string>, provider: Provider, offer: Offer) {
  const server = await startReplay(recording);
  onTestFinished(() => server.close());
  const context = createFakeProviderContext({ ...keys, ...server.env }, provider);
  const work = async (): Promise<JobDone> => {
    let progress = await provider.submit(adjustParameters(createSampleJob(offer), offer).job, offer, context);
    while (progress.state === "running") {
      await pause(10);
      progress = await provider.poll(progress.ticket, context);
    }
    return progress;
  };
  return { server, work };
}

it.each(MODELS)("%s %s %s is recorded without its key, and its replay gives the same result", async (...place) => {
  const { env, vendor, provider, offer, recording } = await record(...place);
  await vendor.stopListening();
  const text = JSON.stringify(recording);
  for (const [name, value] of Object.entries(env))
    if (/KEY|TOKEN|SECRET/.test(name)) for (const part of value.split(":")) expect(text).not.toContain(part);
  expect(text).not.toContain(vendor.url);
  expect(text.length).toBeLessThan(20_000);

  const keys = Object.fromEntries(Object.keys(env).map((name) => [name, "another-key"]));
  const { server, work } = await replay(JSON.parse(text), keys, provider, offer);
  const done = await work();
  expect(server.mismatches).toEqual([]);
  expect(done.outputs.length > 0 || done.data !== undefined).toBe(true);
});

/** What was recorded with a key. */
const folder = join(import.meta.dirname, "recordings");
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];

it.each(files)("%s: the adapter sends what it has, and understands the answers", async (name) => {
  const recording = JSON.parse(readFileSync(join(folder, name), "utf8")) as Recording;
  const { provider, offer } = find(recording.provider, recording.model, recording.task);
  const keys = Object.fromEntries(requiredSettings(provider).map((setting) => [setting, "another-key"]));
  const { server, work } = await replay(recording, keys, provider, offer);
  const done = await work();
  expect(server.mismatches).toEqual([]);
  expect(done.outputs.length > 0 || done.data !== undefined).toBe(true);
});

it("a request that the adapter sends differently today is named with its field", async () => {
  const { env, provider, offer, recording } = await record("fal", "fal-ai/flux/dev", "image.generate");
  const changed: Offer = { ...offer, body: (job) => ({ ...offer.body!(job), output_format: "webp" }) };
  const { server, work } = await replay(recording, env, provider, changed);
  await expect(work()).rejects.toThrow();
  expect(server.mismatches).toEqual(["POST /origin-0/fal-ai/flux/dev has another body: output_format"]);
});

it("nothing is sent if the request can cost more than was allowed", async () => {
  await expect(record("fal", "fal-ai/flux/dev", "image.generate", 0.001)).rejects.toThrow(
    "fal-ai/flux/dev costs up to $0.0",
  );
});

it("signatures of links, names of accounts and keys in answers are removed", async () => {
  const reply = {
    username: "a-person",
    url: "https://cdn.example.com/a.png?X-Amz-Signature=abc123&width=5",
    said: "your key sk-very-secret is fine",
  };
  const send = async () => ({ status: 200, header: () => undefined, text: JSON.stringify(reply) });
  const recorder = createRecorder(send, { ACME_KEY: "sk-very-secret", ACME_URL: "https://api.example.com" });
  await recorder.send("https://api.example.com/v1/me?token=abc", {
    method: "GET",
    headers: { "x-key": "sk-very-secret" },
  });
  const place = { provider: "acme", model: "a", task: "image.generate", recorded_on: "2026-11-20" };
  expect(recorder.finish(place)).toEqual({
    ...place,
    settings: { ACME_URL: "{{0}}" },
    exchanges: [
      {
        ...{ method: "GET", url: "{{0}}/v1/me?token=REMOVED", status: 200, headers: {} },
        text: JSON.stringify({
          username: "REMOVED",
          url: "https://cdn.example.com/a.png?X-Amz-Signature=REMOVED&width=5",
          said: "your key REMOVED is fine",
        }),
      },
    ],
  });
});
