// What the running server offers, by provider, with the prices that are known: for the banner of `gesso dev`.
import { missingSettings, type ProviderChoice } from "./provider-choice.ts";
import { findListedProvider } from "./provider-list.ts";

/** A price is in US dollars per unit of `per`; null if it is unknown, a bound with `at_most`. */
export type ProviderOffer = {
  task: string;
  model: string;
  upstream: string;
  price: number | null;
  per: string;
  at_most: boolean;
};
export type ProviderStatus = {
  id: string;
  ready: boolean;
  /** Runs on this machine, without a network. */
  offline: boolean;
  /** Why it is not ready. */
  missing_settings: string[];
  offers: ProviderOffer[];
};

type Server = { url: string; key: string };
type CatalogueOffer = ProviderOffer & { provider: string; lifecycle: { state: string } };
type Catalogue = { models: { model: string; offers: CatalogueOffer[] }[] };

const OFFLINE = ["sandbox", "local", "local-models"];
const REQUEST_MS = 10_000;

export async function listProviderStatus(server: Server, choice: ProviderChoice): Promise<ProviderStatus[]> {
  const { models } = await requestJson<Catalogue>(server, "/catalogue");
  const offers = models
    .flatMap(({ model, offers: own }) => own.map((offer) => ({ ...offer, model })))
    .filter(({ lifecycle }) => lifecycle.state !== "retired");
  const own = (id: string) =>
    offers
      .filter(({ provider }) => provider === id)
      .map(({ task, model, upstream, price, per, at_most }) => ({ task, model, upstream, price, per, at_most }));
  const enabled = new Set(offers.map(({ provider }) => provider));
  return [...OFFLINE.filter((id) => enabled.has(id)), ...choice.providers].map((id) => ({
    id,
    ready: enabled.has(id),
    offline: OFFLINE.includes(id),
    missing_settings: enabled.has(id) ? [] : missingSettings(findListedProvider(id), choice, process.env),
    offers: own(id),
  }));
}

export async function requestJson<Body>({ url, key }: Server, path: string, init: RequestInit = {}): Promise<Body> {
  const response = await fetch(`${url}/api/v1${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${key}`, ...(init.body ? { "Content-Type": "application/json" } : {}) },
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  if (!response.ok) throw new Error(`${path} returned HTTP ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}
