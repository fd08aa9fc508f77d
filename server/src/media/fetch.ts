// The one way in which bytes are fetched from addresses that others gave us: customers' pictures and vendors' results.
// It reaches public machines and the origins an operator allowed, nothing else, and never more than was asked for.
import { lookup as lookupInDns } from "node:dns";
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { connectMilliseconds, guardedConnector } from "./guarded-connector.ts";
import { checkPublicUrl, notAllowed, parseWebUrl } from "./url-policy.ts";

const silenceMilliseconds = 10_000;
const mostRedirects = 3;
const mostConnectionsPerOrigin = 64;
/** What comes with a redirect is thrown away; more than this is not worth reading to save the connection. */
const redirectBodyBytes = 16 * 1024;

export const FetchEnv = z.object({
  FETCH_ALLOW_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter(Boolean))
    .describe("Origins, separated by commas, that pictures may be fetched from although they are private."),
});

export type FetchOptions = {
  maxBytes: number;
  /** For everything together: names, redirects, the last byte. */
  timeoutSeconds: number;
  /** Origins allowed in this one fetch although they are not public, such as a provider's own. */
  allowOrigins?: readonly string[];
  /** Where this one fetch may go at all, held against every redirect too. */
  isWithin?(url: string): boolean;
  /** What this one address wants besides, a provider's token for instance. Asked for every redirect anew. */
  headersFor?(url: string): Record<string, string>;
};
export type Fetched = { bytes: Uint8Array; media_type: string };
export type Fetcher = {
  /** Throws for an address that would never be fetched, as far as that can be told without looking names up. */
  checkUrl(url: string): void;
  fetchBytes(url: string, options: FetchOptions): Promise<Fetched>;
  close(): Promise<void>;
};

type Setup = {
  /** Origins an operator allows although they are not public, such as `http://127.0.0.1:7790`. */
  allowOrigins?: readonly string[];
  lookup?: typeof lookupInDns;
};

export const createFetcher = ({ allowOrigins = [], lookup = lookupInDns }: Setup = {}): Fetcher => {
  const settings = {
    connections: mostConnectionsPerOrigin,
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
    allowH2: false,
  };
  // Two pools that never mix: a connection made under one's rule must not serve a request under the other's.
  // Neither reads the proxy settings of the environment.
  const guarded = new Agent({ ...settings, connect: guardedConnector(lookup) });
  const trusted = new Agent({ ...settings, connect: { timeout: connectMilliseconds } });
  const always = originsOf(allowOrigins);

  return {
    checkUrl: (text) => {
      const url = parseWebUrl(text);
      if (!always.has(url.origin)) checkPublicUrl(url);
    },
    fetchBytes: async (text, options) => {
      const here = originsOf(options.allowOrigins ?? []);
      const agentFor = (url: URL): Agent => {
        if (always.has(url.origin) || here.has(url.origin)) return trusted;
        checkPublicUrl(url);
        return guarded;
      };
      const signal = AbortSignal.timeout(options.timeoutSeconds * 1_000);
      try {
        const response = await follow(parseWebUrl(text), { agentFor, ...options }, signal);
        return await readBody(response, options.maxBytes);
      } catch (thrown) {
        throw asFault(thrown);
      }
    },
    close: async () => {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
};

const originsOf = (origins: readonly string[]): Set<string> => new Set(origins.map((origin) => new URL(origin).origin));

type Response = Dispatcher.ResponseData;

type How = { agentFor: (url: URL) => Agent } & Pick<FetchOptions, "isWithin" | "headersFor">;

/** Redirects are followed by hand, because each hop is a new address from a stranger. */
const follow = async (first: URL, how: How, signal: AbortSignal): Promise<Response> => {
  const { agentFor, isWithin, headersFor } = how;
  let url = first;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    if (isWithin && !isWithin(url.href)) throw notAllowed("foreign_address");
    const response = await agentFor(url).request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "GET",
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "Gesso", ...headersFor?.(url.href) },
      signal,
    });
    const location = headerOf(response, "location");
    if (![301, 302, 303, 307, 308].includes(response.statusCode) || location === undefined) return response;
    await response.body.dump({ limit: redirectBodyBytes, signal });
    const next = parseWebUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") throw notAllowed("downgrade");
    url = next;
  }
  throw failed("too_many_redirects");
};

const readBody = async (response: Response, maxBytes: number): Promise<Fetched> => {
  const { statusCode, body } = response;
  const refuse = (fault: Fault): Fault => {
    // The answer is of no use any more, and neither is its connection.
    body.on("error", () => undefined).destroy();
    return fault;
  };
  if (statusCode !== 200) throw refuse(failed("status", { status: statusCode }));
  if ((headerOf(response, "content-encoding") ?? "identity") !== "identity") throw refuse(failed("encoding"));
  const tooLarge = () => new Fault("source_too_large", { max_bytes: maxBytes });
  if (Number(headerOf(response, "content-length") ?? 0) > maxBytes) throw refuse(tooLarge());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw refuse(tooLarge());
    chunks.push(chunk);
  }
  const type = headerOf(response, "content-type")?.split(";")[0]?.trim().toLowerCase();
  return { bytes: Buffer.concat(chunks, size), media_type: type || "application/octet-stream" };
};

const headerOf = ({ headers }: Response, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

type Reason = "timeout" | "name" | "connection" | "tls" | "status" | "encoding" | "too_many_redirects";

const failed = (reason: Reason, more: Record<string, unknown> = {}, cause?: unknown): Fault =>
  new Fault("source_fetch_failed", { reason, ...more }, { cause });

const asFault = (thrown: unknown): Fault => {
  if (thrown instanceof Fault) return thrown;
  const { name, code = "" } = thrown as NodeJS.ErrnoException;
  if (name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(code)) return failed("timeout", {}, thrown);
  if (/^(ENOTFOUND|EAI_)/.test(code)) return failed("name", {}, thrown);
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return failed("tls", {}, thrown);
  return failed("connection", {}, thrown);
};
