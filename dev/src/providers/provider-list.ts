// The providers that `gesso dev` can use, besides the sandbox: what each unlocks, its required settings, and the page
// where its key comes from. The list is generated from the adapters of the server.
import list from "../generated/providers.json" with { type: "json" };
import { usageError } from "../usage-error.ts";

export type ListedProvider = {
  id: string;
  name: string;
  unlocks: string;
  /** Without all of them, the provider is disabled. */
  settings: { name: string; description: string; secret: boolean }[];
  /** Null for your own servers, which have no key. */
  key_page: string | null;
  /** Whether it reports the end of a job by itself, if it can reach PUBLIC_URL. */
  calls_back: boolean;
  /** Gesso's own prices, in US dollars per unit of `per`. Those of a running server may differ. */
  offers: PricedOffer[];
  /** What the operator of a server does with the key, by platform. `file`: null for commands. */
  server_setup: { platform: string; where: string; steps: { file: string | null; lines: string }[] }[];
};
/** `price`: null if it is unknown, a bound with `at_most`. */
export type PricedOffer = { task: string; model: string; price: number | null; per: string; at_most: boolean };

export const PROVIDER_LIST: readonly ListedProvider[] = list;

export function findListedProvider(id: string): ListedProvider {
  const found = PROVIDER_LIST.find((each) => each.id === id);
  if (found) return found;
  throw usageError(`There is no provider ${id}. Providers: ${PROVIDER_LIST.map((each) => each.id).join(", ")}.`);
}
