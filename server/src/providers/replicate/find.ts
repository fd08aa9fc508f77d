// Finds a prediction whose submission was lost, by its callback URL. If the search is incomplete, the outcome stays
// unknown: a wrong "not found" would cause a second charge.
import { z } from "zod";
import { callProvider, providerFault } from "../call-provider.ts";
import type { Ticket } from "../provider.ts";
import {
  callbackUrlFor,
  isSamePath,
  Prediction,
  type ReplicateContext,
  readPrediction,
  replicateApi,
  replicateUrl,
} from "./api.ts";

export const PredictionPage = z.object({ results: z.array(Prediction), next: z.url().nullish() });

const MAX_PAGES = 5;
const MAX_READS = 20;
/** Tolerance for differences between Replicate's clock and ours. */
const CLOCK_MARGIN_MS = 10 * 60 * 1000;

const unknownOutcome = (cause: string) => providerFault("provider_outcome_unknown", { kind: "unknown", cause });

export async function findPrediction(context: ReplicateContext): Promise<Ticket | undefined> {
  if (!callbackUrlFor(context)) throw unknownOutcome("sent without a callback URL, it cannot be identified");
  const isSameAttempt = ({ webhook }: Prediction) => Boolean(webhook) && isSamePath(webhook!, context.callbackUrl);
  const recent = await predictionsSince(createdAt(context.key), context);
  const listed = recent.find(isSameAttempt);
  if (listed) return { id: listed.id };

  // The list can omit callback URLs. If it shows at least one and ours is not among them, the prediction does not
  // exist.
  const candidates = recent.filter(({ source }) => source !== "web");
  if (candidates.length === 0 || candidates.some(hasCallbackUrl)) return undefined;
  if (candidates.length > MAX_READS) throw unknownOutcome("too many predictions without their callback URL");
  const whole = await Promise.all(candidates.map(({ id }) => readPrediction(id, context)));
  const seen = whole.find(isSameAttempt);
  if (seen) return { id: seen.id };
  if (!whole.some(hasCallbackUrl)) throw unknownOutcome("predictions do not contain their callback URL");
  return undefined;
}

const hasCallbackUrl = ({ webhook }: Prediction) => webhook !== undefined;

/** All predictions since then; undefined if the list could not be read to its end. */
async function predictionsSince(since: Date, context: ReplicateContext): Promise<Prediction[]> {
  const found: Prediction[] = [];
  let url: string | null | undefined = replicateUrl(context, `/predictions?created_after=${since.toISOString()}`);
  for (let page = 0; url && page < MAX_PAGES; page++) {
    const { results, next }: z.output<typeof PredictionPage> = await callProvider(context, {
      ...replicateApi(context.env),
      url,
      reply: PredictionPage,
    });
    found.push(...results);
    url = next;
  }
  if (url) throw unknownOutcome("too many predictions since the run began");
  return found;
}

/** A key starts with the run ID, a UUIDv7, which starts with the time of acceptance. */
function createdAt(key: string): Date {
  const ms = Number.parseInt(key.slice(0, 13).replace("-", ""), 16);
  return new Date(Number.isNaN(ms) ? 0 : Math.max(0, ms - CLOCK_MARGIN_MS));
}
