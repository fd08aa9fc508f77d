// What `gesso doctor --live` says about each upstream model: whether the provider lists it for this key, and whether
// the document that the provider publishes today still takes the requests of our offers. Uses only free requests.
import type { Job } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { importModel } from "../models/import-model.ts";
import { listFieldNames } from "../models/schema-parts.ts";
import { adjustParameters, canServe } from "../providers/adjust-parameters.ts";
import type { Asset, EnabledProvider, Offer } from "../providers/provider.ts";
import type { Clock } from "../runtime/clock.ts";
import { createFreeContext, type TimedSendRequest } from "./check-provider.ts";
import type { ModelCheck, ProviderCheck } from "./report.ts";

/** Documents that are read at the same time. */
const AT_ONCE = 4;

const IMAGE: Asset = {
  ...{ asset_id: "doctor", media_type: "image/png" },
  url: async () => "https://example.com/image.png",
  bytes: async () => new Uint8Array(),
};
/** What a job can have: the first that an offer takes is its smallest. */
const PARTS: Partial<Job<Asset>>[] = [
  { images: undefined },
  { images: [IMAGE] },
  { images: [IMAGE], mask: IMAGE },
  { images: [IMAGE], mask: IMAGE, prompt: undefined },
  { images: [IMAGE, IMAGE] },
  { images: [IMAGE, IMAGE], mask: IMAGE, mask_over: 1 },
  { images: undefined, options: { model_id: "a", lora_low_name: "a", lora_high_name: "a" } },
  { images: [IMAGE], options: { model_id: "a", lora_1: "a" } },
];

export async function checkModels(
  { provider, env }: EnabledProvider,
  { key, missing, notAsked }: Pick<ProviderCheck, "key" | "missing" | "notAsked">,
  { send, clock }: { send: TimedSendRequest; clock: Pick<Clock, "now" | "after"> },
): Promise<ModelCheck[]> {
  // Of a provider that does not respond nothing can be said, and one without a list or a document says nothing.
  if (key !== "works") return [];
  const offers = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  const byModel = [...Map.groupBy(offers, ({ upstreamModel }) => upstreamModel)];
  const context = createFreeContext(env, send, clock);
  const listedOf = (name: string): ModelCheck["listed"] => {
    if (missing.some((each) => each.as === name)) return "no";
    return notAsked.includes(name) ? "unasked" : "yes";
  };
  const checks: ModelCheck[] = byModel.map(([as]) => ({ as, listed: listedOf(as), schema: "unpublished" }));
  const { describe } = provider.anyModel?.isFree ? {} : (provider.anyModel ?? {});
  if (!describe) return checks;
  const waiting = [...byModel.entries()].filter(([index]) => checks[index]!.listed !== "no");
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, [as, own]] = next;
      const path = as.replace(/:.*$/, "");
      const document = await describe(path, context).catch(() => undefined);
      const imported = document === undefined ? undefined : importModel(provider.id, path, document);
      const input = imported && "model" in imported ? imported.model.input : undefined;
      const problem = input && findProblem(input, own);
      checks[index] = { ...checks[index]!, schema: !input ? "unread" : problem ? "changed" : "fits", problem };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return checks;
}

/** A field that the document does not have, or one that it requires and our requests lack. */
function findProblem(input: JsonObject, offers: readonly Offer[]): string | undefined {
  const fields = listFieldNames(input, input);
  const required = (input.required ?? []) as string[];
  for (const offer of offers) {
    const sent = listFields(offer);
    if (sent === undefined) continue;
    const unknown = sent.find((name) => !fields.includes(name));
    if (unknown !== undefined) return `it no longer has the field ${unknown}, which Gesso sends for ${offer.task}`;
    const lacking = required.find((name) => !sent.includes(name));
    if (lacking !== undefined) return `it requires the field ${lacking}, which Gesso does not send for ${offer.task}`;
  }
  return undefined;
}

/** The names of the fields in the smallest request of the offer. Undefined: this file knows no job for it. */
function listFields(offer: Offer): string[] | undefined {
  const { task, model } = offer;
  const least: Job<Asset> = { task, model, prompt: "a boat", count: 1, aspect_ratio: "1:1", options: {} };
  const job = PARTS.map((part): Job<Asset> => ({ ...least, ...part })).find((each) => canServe(offer, each));
  if (!job) return undefined;
  const body = offer.body?.(adjustParameters(job, offer).job) ?? {};
  return Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
