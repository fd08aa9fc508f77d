// What the System page says about each provider: its state from the report of the doctor, what it unlocks from the
// generated list, and what can be done about it here.
import type { SystemReport } from "@gesso/client";
import { formatClock } from "../format/time.ts";
import providers from "../generated/providers.json" with { type: "json" };
import { formatPrice, formatUnit, type OfferPrice } from "../parts/offer-words.ts";
import { text } from "../text/text.ts";

export type PricedOffer = OfferPrice & { task: string; model: string };
/** `key_page`: null for your own servers, which have no key. */
export type ListedProvider = {
  id: string;
  name: string;
  unlocks: string;
  key_page: string | null;
  settings: { name: string; description: string; secret: boolean }[];
  offers: PricedOffer[];
  server_setup: { platform: string; where: string; steps: { file: string | null; lines: string }[] }[];
};
export type ReportedProvider = SystemReport["providers"][number];

/** `listed`: undefined for providers without an account, which run inside Gesso. */
export type ProviderEntry = {
  reported: ReportedProvider;
  listed: ListedProvider | undefined;
  isConnected: boolean;
  /** The keys of a server are settings, so the page only shows how to add or replace one there. */
  action: "connect" | "replace" | "how_connect" | "how_replace" | undefined;
};

const listedProviders: readonly ListedProvider[] = providers;
const words = text.system;

/** Connected providers first, then those with an account, in the order of the report. */
export function listProviderEntries({
  providers: reported,
  takes_provider_keys: isDevelopment,
}: Pick<SystemReport, "providers" | "takes_provider_keys">): ProviderEntry[] {
  const entries = reported.map((each) => toEntry(each, isDevelopment));
  const rankOf = ({ isConnected, listed }: ProviderEntry) => (isConnected ? 0 : listed ? 1 : 2);
  return entries.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function toEntry(reported: ReportedProvider, isDevelopment: boolean): ProviderEntry {
  const listed = listedProviders.find(({ id }) => id === reported.name);
  const isConnected = reported.key !== "off";
  return { reported, listed, isConnected, action: listed && actionFor(reported, isDevelopment) };
}

function actionFor({ key, status }: ReportedProvider, isDevelopment: boolean): ProviderEntry["action"] {
  if (isDevelopment) return key === "off" ? "connect" : "replace";
  if (key === "off") return "how_connect";
  return status === "fail" ? "how_replace" : undefined;
}

export type Tone = "pass" | "warn" | "fail" | "skip";

export const toneOf = ({ status, open_until }: ReportedProvider): Tone =>
  (status === "pass" && open_until ? "warn" : status) as Tone;

/** A provider without an account is off because something on the machine is missing, which the doctor names. */
export function describeState({ reported, listed }: Pick<ProviderEntry, "reported" | "listed">): string {
  const { status, key, message, fix, missing, open_until } = reported;
  if (open_until) return words.paused(formatClock(open_until));
  if (key === "off" && status === "skip" && listed) return words.notConnected;
  const state = words.statuses[status] ?? status;
  if (missing.length > 0) return `${state}. ${words.missing(missing.join(", "))}`;
  if (status === "pass") return `${state}, ${message}`;
  return `${state}: ${message}${fix ? `. ${capitalize(fix)}.` : ""}`;
}

/** The doctor prints advice after a name, so it begins with a small letter. */
const capitalize = (advice: string) => `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;

/** Such as "21 models for 12 kinds of work". */
export function countOffers(offers: readonly PricedOffer[]): string {
  const models = new Set(offers.map(({ model }) => model)).size;
  return words.offerCount(models, new Set(offers.map(({ task }) => task)).size);
}

/** The lowest price per image, or per whatever has a price. */
export function describeCheapest(offers: readonly PricedOffer[]): string {
  const priced = offers.filter(({ price }) => price !== null && price > 0);
  if (priced.length === 0) return offers.some(({ price }) => price === 0) ? text.models.free : words.pricesUnknown;
  const perImage = priced.filter(({ per }) => per === "image");
  const cheapest = (perImage.length > 0 ? perImage : priced).reduce((a, b) => (a.price! <= b.price! ? a : b));
  return words.from(`${formatPrice({ ...cheapest, at_most: false })} ${formatUnit(cheapest)}`);
}

export type PriceGroup = { task: string; rows: { model: string; price: string }[] };

/** By the kind of work. The offers of a model with prices of one unit are one row, with the range of their prices. */
export const groupPrices = (offers: readonly PricedOffer[]): PriceGroup[] =>
  [...Map.groupBy(offers, ({ task }) => task)].map(([task, own]) => ({
    task,
    rows: [...Map.groupBy(own, (offer) => `${offer.model} ${formatUnit(offer) || formatPrice(offer)}`).values()].map(
      (same) => ({ model: same[0]!.model, price: describeRange(same) }),
    ),
  }));

function describeRange(offers: readonly PricedOffer[]): string {
  const sorted = offers.toSorted((a, b) => (a.price ?? 0) - (b.price ?? 0));
  const ends = [...new Set([sorted[0]!, sorted.at(-1)!].map(formatPrice))];
  return `${ends.join(words.to)} ${formatUnit(sorted[0]!)}`.trim();
}
