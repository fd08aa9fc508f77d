// Outbound HTTP as the run steps use it: guarded fetches of untrusted URLs, and requests to providers.
import type { Clock } from "../runtime/clock.ts";
import { createFetcherFromSettings } from "./create-url-fetcher.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createProviderHttpClient, type ProviderHttpClient } from "./provider-http-client.ts";
import type { UrlFetcher } from "./url-fetcher.ts";

export type OutboundHttp = {
  /** Throws url_not_allowed for a URL that would never be fetched. Does not resolve host names. */
  checkUrl: UrlFetcher["checkUrl"];
  /** Fetches an untrusted URL: a customer's image or a provider's result. */
  fetch: UrlFetcher["fetchBytes"];
  /** The same as a stream, for a file that may be too large for the memory. */
  open: UrlFetcher["open"];
  /**
   * Sends a request to a provider. It times out before the attempt lease expires, so an expired lease means that no
   * request is in flight.
   */
  sendToProvider: ProviderHttpClient["send"];
  /** Opens a WebSocket to a provider that pushes job notifications. */
  openWebSocket: OpenWebSocket;
  close(): Promise<void>;
};

export function createOutboundHttp(settings: FetchSettings, publicUrl: string, clock: Clock): OutboundHttp {
  const fetcher = createFetcherFromSettings(settings, publicUrl, clock);
  const providerClient = createProviderHttpClient(clock);
  return {
    checkUrl: fetcher.checkUrl,
    fetch: fetcher.fetchBytes,
    open: fetcher.open,
    sendToProvider: providerClient.send,
    openWebSocket: openProviderWebSocket,
    close: () => providerClient.close(),
  };
}

type OpenWebSocket = (url: string, headers: Record<string, string>) => WebSocket;

/** Node's WebSocket accepts headers, which the DOM types do not have. */
type WebSocketWithHeaders = new (url: string, options: { headers: Record<string, string> }) => WebSocket;

/** Opens WebSockets to providers that push job notifications. The URL comes from the operator's settings. */
export const openProviderWebSocket: OpenWebSocket = (url, headers) =>
  new (WebSocket as unknown as WebSocketWithHeaders)(url, { headers });
