// Chooses who fetches, from the operator's settings: this process, or a fetcher that runs on its own.

import { createDnsResolver } from "./dns-resolver.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createFetcherClient } from "./fetcher-client.ts";
import { createUrlFetcher, type StreamingUrlFetcher, type UrlFetcher } from "./url-fetcher.ts";
import { hostOf } from "./url-policy.ts";

/** `ownUrl` is where we are reached ourselves: nobody has us ask ourselves. */
export const createFetcherFromSettings = (env: FetchSettings, ownUrl: string): UrlFetcher => {
  const own = createLocalFetcher(env, ownUrl);
  if (!env.FETCHER_URL) return own;
  if (!env.FETCHER_TOKEN) throw new Error("FETCHER_URL is set, which needs FETCHER_TOKEN.");
  return createFetcherClient({ url: env.FETCHER_URL, token: env.FETCHER_TOKEN, checkUrl: own.checkUrl });
};

export const createLocalFetcher = (env: FetchSettings, ownUrl: string): StreamingUrlFetcher =>
  createUrlFetcher({
    trustedOrigins: env.FETCH_ALLOW_ORIGINS,
    allowRanges: env.FETCH_ALLOW_CIDRS,
    deny: [...env.FETCH_DENY, hostOf(new URL(ownUrl))],
    ports: env.FETCH_PORTS,
    resolve: createDnsResolver(env.FETCH_DNS_SERVERS),
  });
