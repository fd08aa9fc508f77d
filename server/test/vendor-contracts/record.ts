// `npm run vendors:record -- fal fal-ai/flux/dev --spend 0.05`: makes one request with the key of the environment and
// writes the exchange, without secrets, to `recordings/`. Tests replay what is there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { quoteJob } from "../../src/money/billable-quantity.ts";
import { adjustParameters } from "../../src/providers/adjust-parameters.ts";
import { providers } from "../../src/providers/all.ts";
import type { Offer, Provider, ProviderContext, SendRequest } from "../../src/providers/provider.ts";
import { createFakeProviderContext } from "../fake-vendors/provider-context.ts";
import { createSampleJob } from "../fake-vendors/sample-jobs.ts";
import { createRecorder, type Recording } from "./recordings.ts";

const POLL_MS = 2000;
const MAX_POLLS = 300;

type Services = { env: Record<string, string>; send?: SendRequest; pollMs?: number; now?: () => number };

/** Throws before anything is sent if the request can cost more than `most`. */
export async function recordOffer(
  provider: Provider,
  offer: Offer,
  most: number,
  services: Services,
): Promise<Recording> {
  const { job } = adjustParameters(createSampleJob(offer), offer);
  const { amount } = quoteJob(offer, job);
  if (amount === null || amount > most)
    throw new Error(`${offer.upstreamModel} costs ${amount === null ? "an unknown amount" : `up to $${amount}`}`);
  const plain = createFakeProviderContext(services.env, provider, { timeoutSeconds: 300 });
  // Also the settings that have defaults.
  const settings = Object.fromEntries(
    Object.entries(plain.env as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    ),
  );
  const recorder = createRecorder(services.send ?? plain.send, settings);
  const context: ProviderContext<unknown> = { ...plain, send: recorder.send };
  let progress = await provider.submit(job, offer, context);
  for (let polls = 0; progress.state === "running" && polls < MAX_POLLS; polls++) {
    await pause(services.pollMs ?? POLL_MS);
    progress = await provider.poll(progress.ticket, context);
  }
  const recorded_on = new Date((services.now ?? Date.now)()).toISOString().slice(0, 10);
  return recorder.finish({ provider: provider.id, model: offer.upstreamModel, task: offer.task, recorded_on });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { spend: { type: "string" }, task: { type: "string" } },
  });
  const [id, upstreamModel] = positionals;
  const provider = providers.find((each) => each.id === id);
  const offer = provider?.offers.find(
    (each) => each.upstreamModel === upstreamModel && (values.task ?? each.task) === each.task,
  );
  const most = Number(values.spend);
  if (!provider || !offer || !(most > 0))
    throw new Error("Usage: npm run vendors:record -- <provider> <upstream model> --spend 0.05 [--task image.edit]");
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  const recording = await recordOffer(provider, offer, most, { env });
  const folder = join(import.meta.dirname, "recordings");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${provider.id}-${offer.task}-${offer.upstreamModel.replaceAll(/[^\w.-]+/g, "-")}.json`);
  writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
  console.log(`${file}: ${recording.exchanges.length} exchanges. Read it before you commit it.`);
}

if (import.meta.main) await main();
