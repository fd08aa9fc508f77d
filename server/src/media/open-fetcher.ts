// Chooses who fetches, from the operator's settings: this process, or a fetcher that runs on its own.
import { createFetcher, type Fetcher, type StreamingFetcher } from "./fetch.ts";
import { createRemoteFetcher } from "./fetch-remote.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createResolve } from "./resolve.ts";
import { hostOf } from "./url-policy.ts";

/** `ownUrl` is where we are reached ourselves: nobody has us ask ourselves. */
export const openFetcher = (env: FetchSettings, ownUrl: string): Fetcher => {
  const own = openLocalFetcher(env, ownUrl);
  if (!env.FETCHER_URL) return own;
  if (!env.FETCHER_TOKEN) throw new Error("FETCHER_URL is set, which needs FETCHER_TOKEN.");
  return createRemoteFetcher({ url: env.FETCHER_URL, token: env.FETCHER_TOKEN, checkUrl: own.checkUrl });
};

export const openLocalFetcher = (env: FetchSettings, ownUrl: string): StreamingFetcher =>
  createFetcher({
    allowOrigins: env.FETCH_ALLOW_ORIGINS,
    allowRanges: env.FETCH_ALLOW_CIDRS,
    deny: [...env.FETCH_DENY, hostOf(new URL(ownUrl))],
    ports: env.FETCH_PORTS,
    resolve: createResolve(env.FETCH_DNS_SERVERS),
  });
