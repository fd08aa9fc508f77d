// The one way in which bytes are fetched from addresses that others gave us: customers' pictures and vendors' results.
// It reaches public machines and what an operator allowed, nothing else, and never more than was asked for.
import { Agent } from "undici";
import { Fault } from "../faults.ts";
import { guardedConnector } from "./guarded-connector.ts";
import { failed, headerOf, type Opened, openBody, type Pace, type Response, USUAL_PACE } from "./read-body.ts";
import { createResolve, type Resolve } from "./resolve.ts";
import { createUrlPolicy, isWithin, notAllowed, type PolicySettings, parseWebUrl } from "./url-policy.ts";

/** How long a machine may take to accept a connection, and how long it may say nothing. */
export const USUAL_WAIT = { connectMs: 5_000, silenceMs: 10_000 };
const MOST_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const MOST_CONNECTIONS_PER_ORIGIN = 64;

/** All of it is data, so that it can be said to a fetcher in a process of its own. */
export type FetchOptions = {
  maxBytes: number;
  /** For everything together: names, redirects, the last byte. */
  timeoutSeconds: number;
  /** Origins allowed in this one fetch although they are not public, such as a provider's own. */
  allowOrigins?: readonly string[];
  /** Where this one fetch may go at all, held against every redirect too. `https://*.example.com` is every host below. */
  within?: readonly string[];
  /** What the allowed origins want besides, a provider's token for instance. It is sent to no other. */
  headers?: Readonly<Record<string, string>>;
};
export type Fetched = { bytes: Uint8Array; media_type: string };
export type Fetcher = {
  /** Throws for an address that would never be fetched, as far as that can be told without looking names up. */
  checkUrl(url: string): void;
  fetchBytes(url: string, options: FetchOptions): Promise<Fetched>;
  close(): Promise<void>;
};
/** For whoever passes the bytes on as they come. */
export type StreamingFetcher = Fetcher & {
  open(url: string, options: FetchOptions & { signal?: AbortSignal }): Promise<Opened>;
};

type Setup = PolicySettings & {
  /** Origins an operator allows although they are not public, such as `http://127.0.0.1:7790`. */
  allowOrigins?: readonly string[];
  resolve?: Resolve;
  pace?: Pace;
  wait?: typeof USUAL_WAIT;
};

export const createFetcher = (setup: Setup = {}): StreamingFetcher => {
  const { allowOrigins = [], resolve = createResolve(), pace = USUAL_PACE, wait = USUAL_WAIT } = setup;
  const policy = createUrlPolicy(setup);
  const settings = {
    connections: MOST_CONNECTIONS_PER_ORIGIN,
    headersTimeout: wait.silenceMs,
    bodyTimeout: wait.silenceMs,
  };
  // Two pools that never mix: a connection made under one's rule must not serve a request under the other's.
  // Neither reads the proxy settings of the environment.
  const guard = { resolve, isAllowed: policy.isAllowed, connectMs: wait.connectMs };
  const guarded = new Agent({ ...settings, connect: guardedConnector(guard) });
  const trusted = new Agent({ ...settings, connect: { timeout: wait.connectMs, allowH2: false } });
  const always = originsOf(allowOrigins);

  const open: StreamingFetcher["open"] = async (text, options) => {
    const here = originsOf(options.allowOrigins ?? []);
    const late = AbortSignal.timeout(options.timeoutSeconds * 1_000);
    const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
    // A request that is still being connected does not hear its signal.
    const tooLate = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    tooLate.catch(() => {});
    const ask = (url: URL): Promise<Response> => {
      if (options.within && !isWithin(url.href, options.within)) throw notAllowed("foreign_address");
      const isTrusted = always.has(url.origin) || here.has(url.origin);
      if (!isTrusted) policy.check(url);
      const response = (isTrusted ? trusted : guarded).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: { ...PLAIN, ...(here.has(url.origin) && options.headers) },
        signal,
      });
      return Promise.race([response, tooLate]);
    };
    try {
      const { media_type, bytes } = openBody(await follow(parseWebUrl(text), ask), options.maxBytes, pace);
      return { media_type, bytes: asFaults(bytes) };
    } catch (thrown) {
      throw asFault(thrown);
    }
  };
  return {
    checkUrl: (text) => {
      const url = parseWebUrl(text);
      if (!always.has(url.origin)) policy.check(url);
    },
    open,
    fetchBytes: async (text, options) => collect(await open(text, options)),
    close: async () => {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
};

const PLAIN = { accept: "*/*", "accept-encoding": "identity", "user-agent": "Gesso" };

const originsOf = (origins: readonly string[]): Set<string> => new Set(origins.map((origin) => new URL(origin).origin));

export const collect = async ({ media_type, bytes }: Opened): Promise<Fetched> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return { bytes: Buffer.concat(chunks), media_type };
};

/** Redirects are followed by hand, because each hop is a new address from a stranger. */
const follow = async (first: URL, ask: (url: URL) => Promise<Response>): Promise<Response> => {
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await ask(url);
    const location = headerOf(response, "location");
    if (!REDIRECTS.includes(response.statusCode) || location === undefined) return response;
    await response.body.dump();
    const next = parseWebUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") throw notAllowed("downgrade");
    url = next;
  }
  throw failed("too_many_redirects");
};

async function* asFaults(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (thrown) {
    throw asFault(thrown);
  }
}

const asFault = (thrown: unknown): Fault => {
  if (thrown instanceof Fault) return thrown;
  const { name, code: given } = thrown as NodeJS.ErrnoException;
  const code = String(given);
  if (name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(code)) return failed("timeout", {}, thrown);
  if (/ENOTFOUND|EAI_/.test(code)) return failed("name", {}, thrown);
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return failed("tls", {}, thrown);
  return failed("connection", {}, thrown);
};
