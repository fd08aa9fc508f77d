// SSRF-safe fetching of untrusted URLs (customer images, provider results). Connects only to public IP addresses and what the operator
// allowed, follows at most three checked redirects, and enforces size and time limits.
import { Agent } from "undici";
import { Fault } from "../faults.ts";
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

/** How long a machine may take to accept a connection, and how long it may say nothing. */
export const DEFAULT_FETCH_TIMEOUTS = { connectMs: 5_000, silenceMs: 10_000 };
const MOST_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const MOST_CONNECTIONS_PER_ORIGIN = 64;

/** All of it is data, so that it can be said to a fetcher in a process of its own. */
export type FetchOptions = {
  maxBytes: number;
  /** For everything together: names, redirects, the last byte. */
  timeoutSeconds: number;
  /** Origins allowed in this one fetch although they are not public, such as a provider's own. */
  trustedOrigins?: readonly string[];
  /** Where this one fetch may go at all, held against every redirect too. `https://*.example.com` is every host below. */
  allowedOrigins?: readonly string[];
  /** What the allowed origins want besides, a provider's token for instance. It is sent to no other. */
  headers?: Readonly<Record<string, string>>;
};
export type FetchedFile = { bytes: Uint8Array; media_type: string };
export type UrlFetcher = {
  /** Throws for an address that would never be fetched, as far as that can be told without looking names up. */
  checkUrl(url: string): void;
  fetchBytes(url: string, options: FetchOptions): Promise<FetchedFile>;
  close(): Promise<void>;
};
/** For whoever passes the bytes on as they come. */
export type StreamingUrlFetcher = UrlFetcher & {
  open(url: string, options: FetchOptions & { signal?: AbortSignal }): Promise<OpenedDownload>;
};

type UrlFetcherOptions = UrlPolicySettings & {
  /** Origins an operator allows although they are not public, such as `http://127.0.0.1:7790`. */
  trustedOrigins?: readonly string[];
  resolve?: DnsResolver;
  pace?: MinimumDownloadRate;
  wait?: typeof DEFAULT_FETCH_TIMEOUTS;
};

export const createUrlFetcher = (setup: UrlFetcherOptions = {}): StreamingUrlFetcher => {
  const {
    trustedOrigins = [],
    resolve = createDnsResolver(),
    pace = DEFAULT_MINIMUM_DOWNLOAD_RATE,
    wait = DEFAULT_FETCH_TIMEOUTS,
  } = setup;
  const policy = createUrlPolicy(setup);
  const settings = {
    connections: MOST_CONNECTIONS_PER_ORIGIN,
    headersTimeout: wait.silenceMs,
    bodyTimeout: wait.silenceMs,
  };
  // Two pools that never mix: a connection made under one's rule must not serve a request under the other's.
  // Neither reads the proxy settings of the environment.
  const guard = { resolve, isAllowed: policy.isAllowedIp, connectMs: wait.connectMs };
  const guarded = new Agent({ ...settings, connect: createPinnedConnector(guard) });
  const trusted = new Agent({ ...settings, connect: { timeout: wait.connectMs, allowH2: false } });
  const always = originsOf(trustedOrigins);

  const open: StreamingUrlFetcher["open"] = async (text, options) => {
    const here = originsOf(options.trustedOrigins ?? []);
    const late = AbortSignal.timeout(options.timeoutSeconds * 1_000);
    const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
    // A request that is still being connected does not hear its signal.
    const tooLate = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    tooLate.catch(() => {});
    const ask = (url: URL): Promise<UndiciResponse> => {
      if (options.allowedOrigins && !isAllowedOrigin(url.href, options.allowedOrigins))
        throw urlNotAllowed("foreign_address");
      const isTrusted = always.has(url.origin) || here.has(url.origin);
      if (!isTrusted) policy.check(url);
      const response = (isTrusted ? trusted : guarded).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: { ...REQUEST_HEADERS, ...(here.has(url.origin) && options.headers) },
        signal,
      });
      return Promise.race([response, tooLate]);
    };
    try {
      const { media_type, bytes } = openResponseBody(
        await followRedirects(parseWebUrl(text), ask),
        options.maxBytes,
        pace,
      );
      return { media_type, bytes: asFaults(bytes) };
    } catch (thrown) {
      throw toFetchFault(thrown);
    }
  };
  return {
    checkUrl: (text) => {
      const url = parseWebUrl(text);
      if (!always.has(url.origin)) policy.check(url);
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

/** Redirects are followed by hand, because each hop is a new address from a stranger. */
const followRedirects = async (first: URL, ask: (url: URL) => Promise<UndiciResponse>): Promise<UndiciResponse> => {
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await ask(url);
    const location = readHeader(response, "location");
    if (!REDIRECTS.includes(response.statusCode) || location === undefined) return response;
    await response.body.dump();
    const next = parseWebUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") throw urlNotAllowed("downgrade");
    url = next;
  }
  throw fetchFailed("too_many_redirects");
};

async function* asFaults(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (thrown) {
    throw toFetchFault(thrown);
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
