// SSRF-safe fetching of untrusted URLs (source images, provider results). Connects only to public IP addresses and to
// what the operator allows, follows at most three checked redirects, and enforces size and time limits.
import { Agent } from "undici";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createTimeoutSignal } from "../runtime/timeout-signal.ts";
import { createDnsResolver, type DnsResolver } from "./dns-resolver.ts";
import { createPinnedConnector } from "./pinned-connector.ts";
import {
  DEFAULT_MINIMUM_DOWNLOAD_RATE,
  fetchFailed,
  type MinimumDownloadRate,
  type OpenedDownload,
  openResponseBody,
  readHeader,
  type UndiciResponse,
} from "./response-body.ts";
import { createUrlPolicy, isAllowedOrigin, parseWebUrl, type UrlPolicySettings, urlNotAllowed } from "./url-policy.ts";

/** Timeouts for connecting and for pauses in the response. */
export const DEFAULT_FETCH_TIMEOUTS = { connectMs: 5_000, silenceMs: 10_000 };
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const MAX_CONNECTIONS_PER_ORIGIN = 64;

/** Plain data, so that it can be sent to a separate fetcher process. */
export type FetchOptions = {
  maxBytes: number;
  /** Timeout of the whole fetch, including DNS and redirects. */
  timeoutSeconds: number;
  /** Origins that this fetch may reach although they are private, such as a self-hosted provider. */
  trustedOrigins?: readonly string[];
  /** The only origins of this fetch and its redirects. `https://*.example.com` matches every subdomain. */
  allowedOrigins?: readonly string[];
  /** Headers such as a token, sent to `trustedOrigins` only. */
  headers?: Readonly<Record<string, string>>;
};
export type FetchedFile = { bytes: Uint8Array; media_type: string };
export type UrlFetcher = {
  /** Throws `url_not_allowed` if the URL is denied by its text alone, without DNS. */
  checkUrl(url: string): void;
  fetchBytes(url: string, options: FetchOptions): Promise<FetchedFile>;
  /** Streams the bytes. Iterate them at once, to the end or until you leave: that closes the connection. */
  open(url: string, options: FetchOptions & { signal?: AbortSignal }): Promise<OpenedDownload>;
  close(): Promise<void>;
};

type UrlFetcherOptions = UrlPolicySettings & {
  /** Private origins that the operator allows, such as `http://127.0.0.1:7790`. */
  trustedOrigins?: readonly string[];
  resolve?: DnsResolver;
  pace?: MinimumDownloadRate;
  wait?: typeof DEFAULT_FETCH_TIMEOUTS;
  clock?: Clock;
};

export const createUrlFetcher = (setup: UrlFetcherOptions = {}): UrlFetcher => {
  const {
    trustedOrigins = [],
    resolve = createDnsResolver(),
    pace = DEFAULT_MINIMUM_DOWNLOAD_RATE,
    wait = DEFAULT_FETCH_TIMEOUTS,
    clock = systemClock,
  } = setup;
  const policy = createUrlPolicy(setup);
  const settings = {
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    headersTimeout: wait.silenceMs,
    bodyTimeout: wait.silenceMs,
  };
  // Two separate pools: a connection to a trusted origin must never serve a request that needs the IP check. Neither
  // pool reads proxy settings from the environment.
  const guard = { resolve, isAllowed: policy.isAllowedIp, connectMs: wait.connectMs };
  const guarded = new Agent({ ...settings, connect: createPinnedConnector(guard) });
  const trusted = new Agent({ ...settings, connect: { timeout: wait.connectMs, allowH2: false } });
  const globallyTrusted = originsOf(trustedOrigins);

  const open: UrlFetcher["open"] = async (text, options) => {
    const trustedNow = originsOf(options.trustedOrigins ?? []);
    const timeout = createTimeoutSignal(clock, options.timeoutSeconds * 1_000);
    const signal = options.signal ? AbortSignal.any([timeout.signal, options.signal]) : timeout.signal;
    // undici ignores the signal while it connects.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    aborted.catch(() => {});
    const request = (url: URL): Promise<UndiciResponse> => {
      if (options.allowedOrigins && !isAllowedOrigin(url.href, options.allowedOrigins))
        throw urlNotAllowed("foreign_address");
      const isTrusted = globallyTrusted.has(url.origin) || trustedNow.has(url.origin);
      if (!isTrusted) policy.check(url);
      const response = (isTrusted ? trusted : guarded).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: { ...REQUEST_HEADERS, ...(trustedNow.has(url.origin) && options.headers) },
        signal,
      });
      return Promise.race([response, aborted]);
    };
    try {
      const { bytes, ...about } = openResponseBody(await followRedirects(parseWebUrl(text), request), {
        maxBytes: options.maxBytes,
        pace,
        clock,
      });
      return { ...about, bytes: asFaults(bytes, timeout.stop) };
    } catch (thrown) {
      timeout.stop();
      throw toFetchFault(thrown);
    }
  };
  return {
    checkUrl: (text) => {
      const url = parseWebUrl(text);
      if (!globallyTrusted.has(url.origin)) policy.check(url);
    },
    open,
    fetchBytes: async (text, options) => collectBytes(await open(text, options)),
    close: async () => {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
};

const REQUEST_HEADERS = { accept: "*/*", "accept-encoding": "identity", "user-agent": "Gesso" };

const originsOf = (origins: readonly string[]): Set<string> => new Set(origins.map((origin) => new URL(origin).origin));

export const collectBytes = async ({ media_type, bytes }: OpenedDownload): Promise<FetchedFile> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return { bytes: Buffer.concat(chunks), media_type };
};

/** Follows redirects itself, because each target is an untrusted URL that must be checked. */
const followRedirects = async (first: URL, request: (url: URL) => Promise<UndiciResponse>): Promise<UndiciResponse> => {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(url);
    const location = readHeader(response, "location");
    if (!REDIRECTS.includes(response.statusCode) || location === undefined) return response;
    await response.body.dump();
    const next = parseWebUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") throw urlNotAllowed("downgrade");
    url = next;
  }
  throw fetchFailed("too_many_redirects");
};

async function* asFaults(bytes: AsyncIterable<Uint8Array>, onEnd: () => void): OpenedDownload["bytes"] {
  try {
    yield* bytes;
  } catch (thrown) {
    throw toFetchFault(thrown);
  } finally {
    onEnd();
  }
}

const toFetchFault = (thrown: unknown): Fault => {
  if (thrown instanceof Fault) return thrown;
  const { name, code: given } = thrown as NodeJS.ErrnoException;
  const code = String(given);
  if (name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(code)) return fetchFailed("timeout", {}, thrown);
  if (/ENOTFOUND|EAI_/.test(code)) return fetchFailed("name", {}, thrown);
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return fetchFailed("tls", {}, thrown);
  return fetchFailed("connection", {}, thrown);
};
