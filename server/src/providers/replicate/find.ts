// Finds a prediction whose submission was lost, by the address that it was told to call back. What cannot be known is
// said to be unknown: a wrong "it is not there" would be paid for twice.
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

const Page = z.object({ results: z.array(Prediction), next: z.url().nullish() });

const MOST_PAGES = 5;
const MOST_READ = 20;
/** Its clock and ours need not agree. */
const CLOCK_MARGIN_MS = 10 * 60 * 1000;

const unknowable = (cause: string) => providerFault("provider_outcome_unknown", { kind: "doubt", cause });

export async function findPrediction(context: ReplicateContext): Promise<Ticket | undefined> {
  if (!callbackUrlFor(context)) throw unknowable("sent without an address, it cannot be told from others");
  const isOurs = ({ webhook }: Prediction) => Boolean(webhook) && isSamePath(webhook!, context.callbackUrl);
  const recent = await predictionsSince(bornAt(context.key), context);
  const listed = recent.find(isOurs);
  if (listed) return { id: listed.id };

  // One address that is shown proves that they are shown, so ours is not among them. The list may leave them out,
  // though.
  const candidates = recent.filter(({ source }) => source !== "web");
  if (candidates.length === 0 || candidates.some(showsAddress)) return undefined;
  if (candidates.length > MOST_READ) throw unknowable("too many predictions that do not show their address");
  const whole = await Promise.all(candidates.map(({ id }) => readPrediction(id, context)));
  const seen = whole.find(isOurs);
  if (seen) return { id: seen.id };
  if (!whole.some(showsAddress)) throw unknowable("predictions do not show their address");
  return undefined;
}

const showsAddress = ({ webhook }: Prediction) => webhook !== undefined;

/** All since then, or none: a list that was not read to its end proves nothing. */
async function predictionsSince(since: Date, context: ReplicateContext): Promise<Prediction[]> {
  const found: Prediction[] = [];
  let url: string | null | undefined = replicateUrl(context, `/predictions?created_after=${since.toISOString()}`);
  for (let page = 0; url && page < MOST_PAGES; page++) {
    const { results, next }: z.output<typeof Page> = await callProvider(context, {
      ...replicateApi(context.env),
      url,
      reply: Page,
    });
    found.push(...results);
    url = next;
  }
  if (url) throw unknowable("too many predictions since the run began");
  return found;
}

/** A key begins with the id of its run, and that with the time when the run was accepted. */
function bornAt(key: string): Date {
  const ms = Number.parseInt(key.slice(0, 13).replace("-", ""), 16);
  return new Date(Number.isNaN(ms) ? 0 : Math.max(0, ms - CLOCK_MARGIN_MS));
}
