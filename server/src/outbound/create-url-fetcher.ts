// Creates the URL fetcher from the settings: in this process, or a client of a separate fetcher process.
import type { Clock } from "../runtime/clock.ts";
import { createDnsResolver } from "./dns-resolver.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createFetcherClient } from "./fetcher-client.ts";
import { createUrlFetcher, type UrlFetcher } from "./url-fetcher.ts";
import { hostOf } from "./url-policy.ts";

/** `ownUrl` is the public URL of the API, which is never fetched. */
export const createFetcherFromSettings = (env: FetchSettings, ownUrl: string, clock: Clock): UrlFetcher => {
  const own = createLocalFetcher(env, ownUrl, clock);
  if (!env.FETCHER_URL) return own;
  if (!env.FETCHER_TOKEN) throw new Error("FETCHER_URL needs FETCHER_TOKEN. Set both.");
  return createFetcherClient({ url: env.FETCHER_URL, token: env.FETCHER_TOKEN, checkUrl: own.checkUrl, clock });
};

export const createLocalFetcher = (env: FetchSettings, ownUrl: string, clock: Clock): UrlFetcher =>
  createUrlFetcher({
    trustedOrigins: env.FETCH_ALLOW_ORIGINS,
    allowRanges: env.FETCH_ALLOW_CIDRS,
    deny: [...env.FETCH_DENY, hostOf(new URL(ownUrl))],
    ports: env.FETCH_PORTS,
    resolve: createDnsResolver(env.FETCH_DNS_SERVERS),
    clock,
  });
