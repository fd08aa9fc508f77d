// Checks whether the key of a provider works, whether the provider still has our upstream models at our prices, and
// whether it answers in time and agrees with our clock. Uses only free requests and never shows a key.

import { type PriceUnit, unitPrices } from "../prices/price.ts";
import type { EnabledProvider, Offer, Provider, ProviderContext, SendRequest } from "../providers/provider.ts";
import { requiredSettings } from "../providers/server-setup.ts";
import type { Clock } from "../runtime/clock.ts";
import { describeFailure } from "./describe-failure.ts";
import type { OtherPrice, ProviderCheck } from "./report.ts";

export type DisabledProvider = { provider: Provider; reason: string; isMisconfigured: boolean };

const SECONDS = 10;
const NO_COUNTS = { known: 0, unasked: 0, missing: [], notAsked: [], prices: [] };
/** Signatures and links of providers allow minutes at most. */
const MAX_CLOCK_SKEW_SECONDS = 60;
const SLOW_SECONDS = 5;
/** What the unit of a provider can be in a price of ours. */
const UNITS: Readonly<Record<string, readonly PriceUnit[]>> = {
  images: ["image"],
  megapixels: ["megapixel", "whole_megapixel"],
  seconds: ["second"],
  "compute seconds": ["compute_second"],
};

/** Sends a request as for jobs, with a timeout of its own. */
export type TimedSendRequest = (
  url: string,
  request: Parameters<SendRequest>[1] & { timeoutSeconds: number },
) => ReturnType<SendRequest>;

export async function checkProvider(
  { provider, env }: EnabledProvider,
  send: TimedSendRequest,
  { now, after }: Pick<Clock, "now" | "after">,
): Promise<ProviderCheck> {
  const offers = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
  const check = { name: provider.id, ...NO_COUNTS };
  if (!provider.probe) {
    const key = requiredSettings(provider).length > 0 ? "unasked" : "none";
    const message = key === "none" ? "built in" : "no free call to check the key";
    return { ...check, status: "pass", key, message, unasked: names.length, notAsked: names };
  }
  const watched = watchResponses(send, now);
  const context = createFreeContext(env, watched.send, { now, after });
  try {
    const { message, missing: unknown, unasked = [] } = await provider.probe(offers, context);
    // A provider that has no prices for this key still works.
    const prices = (await provider.readPrices?.(offers, context).catch(() => [])) ?? [];
    const missing = names
      .filter((upstreamModel) => unknown.includes(upstreamModel))
      .map((upstreamModel) => ({ as: upstreamModel, models: modelsWith(provider, upstreamModel) }));
    const notAsked = names.filter((upstreamModel) => unasked.includes(upstreamModel));
    const found = { missing, prices: findOtherPrices(offers, prices), ...watched.describe(provider.id) };
    return {
      ...check,
      ...{ key: "works", missing, notAsked, prices: found.prices, unasked: notAsked.length },
      message: [printable(message), ...found.remarks].join(" "),
      known: names.length - missing.length - notAsked.length,
      ...judge(found),
    };
  } catch (thrown) {
    return { ...check, status: "fail", ...describeFailure(thrown, provider, SECONDS), unasked: names.length };
  }
}

type Found = Pick<ProviderCheck, "missing" | "prices"> & { remarks: string[]; fixes: string[] };

function judge({ missing, prices, fixes }: Found): Pick<ProviderCheck, "status" | "fix"> {
  if (missing.length > 0)
    return { status: "fail", fix: "set another upstream model (as) in gesso.yaml, or disable these offers" };
  const all = [...fixes, ...(prices.length > 0 ? ["set the prices of these models in gesso.yaml"] : [])];
  return all.length === 0 ? { status: "pass" } : { status: "warn", fix: all.join("; ") };
}

/** Notes what the responses say about the clocks and about the time that they take. */
function watchResponses(send: TimedSendRequest, now: () => number) {
  let [slowest, skew] = [0, 0];
  const watched: TimedSendRequest = async (url, request) => {
    const start = now();
    const response = await send(url, request);
    slowest = Math.max(slowest, (now() - start) / 1000);
    const date = Date.parse(response.header("date") ?? "");
    if (!Number.isNaN(date)) skew = (now() - date) / 1000;
    return response;
  };
  return {
    send: watched,
    describe(provider: string): { remarks: string[]; fixes: string[] } {
      const isSkewed = Math.abs(skew) > MAX_CLOCK_SKEW_SECONDS;
      const isSlow = slowest > SLOW_SECONDS;
      const side = skew > 0 ? "ahead of" : "behind";
      return {
        remarks: [
          ...(isSkewed ? [`The clock here is ${Math.round(Math.abs(skew))} s ${side} that of ${provider}.`] : []),
          ...(isSlow ? [`A free request took ${slowest.toFixed(1)} s.`] : []),
        ],
        fixes: [
          ...(isSkewed ? ["set the clock, for example with NTP: signatures are refused otherwise"] : []),
          ...(isSlow ? [`look at the network, and at the status page of ${provider}`] : []),
        ],
      };
    },
  };
}

/** Prices that can be compared, which are those of one unit, and differ. Each model once. */
function findOtherPrices(
  offers: readonly Offer[],
  published: Awaited<ReturnType<NonNullable<Provider["readPrices"]>>>,
): OtherPrice[] {
  return published.flatMap(({ upstreamModel, usd, unit }) => {
    const offer = offers.find((each) => each.upstreamModel === upstreamModel);
    const ours = unitPrices(offer?.price?.rows ?? [], {});
    const counted = (UNITS[unit] ?? []).find((each) => ours[each] !== undefined);
    if (counted === undefined || Math.abs(ours[counted]! - usd) < usd / 1000) return [];
    return [{ as: upstreamModel, unit: counted, here: ours[counted]!, there: usd }];
  });
}

/** For requests that create no job and cost nothing. */
export const createFreeContext = (
  env: unknown,
  send: TimedSendRequest,
  { now, after }: Pick<Clock, "now" | "after">,
): ProviderContext<unknown> => ({
  ...{ env, key: "doctor", timeoutSeconds: SECONDS, isPublicUrlReachable: false },
  ...{ unreachableSeconds: 0, submittedSeconds: 0, now, after },
  send: (url, request) => send(url, { ...request, timeoutSeconds: SECONDS }),
  runPixelTask: () => Promise.reject(new Error("a free request has no images")),
});

export const checkDisabledProvider = ({ provider, reason, isMisconfigured }: DisabledProvider): ProviderCheck => ({
  ...{ name: provider.id, key: "off", ...NO_COUNTS },
  ...(isMisconfigured
    ? { status: "fail", message: "settings incomplete", fix: reason }
    : { status: "skip", message: reason }),
});

const modelsWith = ({ offers }: Provider, upstreamModel: string) => [
  ...new Set(offers.filter((offer) => offer.upstreamModel === upstreamModel).map(({ model }) => model)),
];

/** Removes control characters: the text comes from the provider and is shown in a terminal. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
