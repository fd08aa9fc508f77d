// What a client is made with, and what stands where nothing is said.

import { GessoError } from "./errors.ts";
import { createLevelLogger, type Logger, type LogLevel } from "./log.ts";
import type { UploadProgress } from "./multipart.ts";
import { isBrowser, readVariable } from "./runtime.ts";

/** How a client is made. Everything is optional. */
export type ClientOptions = {
  /** Address of your Gesso. Otherwise `GESSO_URL`, then `http://127.0.0.1:7788`. */
  baseUrl?: string;
  /** An API key. Otherwise `GESSO_API_KEY`. Never in a page: see `getToken`. */
  apiKey?: string;
  /** Resolves to an access token, or to null for none. Asked when needed, kept until the token expires. */
  getToken?: () => Promise<string | null> | string | null;
  /** Address of a proxy of yours that adds the credential; then none is needed here. */
  proxyUrl?: string;
  /** Tells every request, without keys and pictures. The same as `logLevel: "debug"`. */
  debug?: boolean;
  /** `off`, `error`, `warn` (default), `info` or `debug`. Otherwise `GESSO_LOG`. */
  logLevel?: LogLevel;
  /** Where it is told; `console` if nothing is said. Takes pino and the like. */
  logger?: Logger;
  /** How often a request is sent again after a failure that may pass. 2 */
  maxRetries?: number;
  /** Milliseconds for one request. 60,000; 150,000 for calls that wait for their result. */
  timeout?: number;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Another `fetch`, for proxies and tests. */
  fetch?: typeof globalThis.fetch;
  /** Another address for the masked edit alone. */
  edit_server_url?: string;
  /** Refuse misfits before sending. True. Switch it off to talk to a newer server. */
  validate?: boolean;
  /** Allow `apiKey` in a page, where everybody can read it. */
  dangerouslyAllowBrowser?: boolean;
};

/** What one call may say differently. */
export type CallOptions = {
  signal?: AbortSignal;
  timeout?: number;
  maxRetries?: number;
  headers?: Record<string, string>;
  /** A key of your own: the same key always lands on the same run. */
  idempotencyKey?: string;
  /** Answer nothing but that it was accepted: the call yields null, and `.wait()` the run. */
  minimal?: boolean;
  /** Refuse fields that the model does not use, instead of warning. */
  strict?: boolean;
  /** Told while files are sent (Node, Bun, Deno; elsewhere once). */
  onUpload?: (progress: UploadProgress) => void;
  /** Another address for this call alone. */
  edit_server_url?: string;
};

export type ResolvedClientOptions = Required<
  Pick<ClientOptions, "baseUrl" | "maxRetries" | "headers" | "fetch" | "validate">
> & {
  apiKey?: string | undefined;
  getToken?: ClientOptions["getToken"];
  timeout?: number | undefined;
  edit_server_url?: string | undefined;
  log: Logger;
};

const DEFAULT_BASE_URL = "http://127.0.0.1:7788";

export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { getToken, proxyUrl } = options;
  if (options.apiKey && getToken) throw new GessoError("Give apiKey or getToken, not both.");
  const apiKey = options.apiKey ?? (getToken || proxyUrl ? undefined : readVariable("GESSO_API_KEY"));
  if (apiKey && isBrowser() && !options.dangerouslyAllowBrowser) {
    throw new GessoError(
      "API keys in a browser page are visible to every visitor. Pass getToken, which asks your server for a " +
        "short-lived token, or proxyUrl, the address of a proxy of yours that adds the key. If the page is yours alone, " +
        "set dangerouslyAllowBrowser: true.",
    );
  }
  const baseUrl = (proxyUrl ?? options.baseUrl ?? readVariable("GESSO_URL") ?? DEFAULT_BASE_URL).replace(/\/+$/, "");
  const level = options.debug ? "debug" : (options.logLevel ?? (readVariable("GESSO_LOG") as LogLevel | undefined));
  return {
    baseUrl,
    apiKey,
    getToken,
    timeout: options.timeout,
    maxRetries: options.maxRetries ?? 2,
    headers: options.headers ?? {},
    validate: options.validate ?? true,
    edit_server_url: options.edit_server_url?.replace(/\/+$/, ""),
    // A browser's fetch must not be called as the method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    log: createLevelLogger(options.logger ?? console, level ?? "warn"),
  };
}
