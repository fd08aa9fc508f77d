// Options of the client and their defaults.
import { GessoError } from "./errors.ts";
import { createLevelLogger, type Logger, type LogLevel } from "./log.ts";
import type { UploadProgress } from "./multipart.ts";
import { isBrowser, readVariable } from "./runtime.ts";

/** Options of the client. All are optional. */
export type ClientOptions = {
  /** URL of the server. Default: `GESSO_URL`, then `http://127.0.0.1:7788`. */
  baseUrl?: string;
  /** API key. Default: `GESSO_API_KEY`. Do not use it in a browser: see `getToken`. */
  apiKey?: string;
  /** Returns an access token, or null for none. Called when needed; the token is cached until it expires. */
  getToken?: () => Promise<string | null> | string | null;
  /** URL of your proxy that adds the API key. The client then sends no credential. */
  proxyUrl?: string;
  /** Logs every request, without keys and images. Same as `logLevel: "debug"`. */
  debug?: boolean;
  /** `off`, `error`, `warn`, `info` or `debug`. Default: `GESSO_LOG`, then `warn`. */
  logLevel?: LogLevel;
  /** Logger, for example pino. Default: `console`. */
  logger?: Logger;
  /** Number of retries after a temporary failure. Default: 2. */
  maxRetries?: number;
  /** Timeout of one request in milliseconds. Default: 60,000; 150,000 for calls that wait for their result. */
  timeout?: number;
  /** Headers of every request. */
  headers?: Record<string, string>;
  /** Replaces `fetch`, for proxies and tests. */
  fetch?: typeof globalThis.fetch;
  /** Server URL for `edit.maskImage` only. */
  edit_server_url?: string;
  /** Validates requests before sending. Default: true. Set it to false to use a newer server. */
  validate?: boolean;
  /** Allows `apiKey` in a browser, where every visitor of the page can read it. */
  dangerouslyAllowBrowser?: boolean;
};

/** Options of one call; they override those of the client. */
export type CallOptions = {
  signal?: AbortSignal;
  timeout?: number;
  maxRetries?: number;
  headers?: Record<string, string>;
  /** Your own idempotency key: requests with the same key return the same run. */
  idempotencyKey?: string;
  /** Returns null as soon as the server accepts the request; `.wait()` returns the run. */
  minimal?: boolean;
  /** Rejects fields that the model does not support, instead of warning. */
  strict?: boolean;
  /** Called while files are uploaded (Node.js, Bun, Deno; once on other runtimes). */
  onUpload?: (progress: UploadProgress) => void;
  /** Server URL for this call only. */
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
  if (options.apiKey && getToken) throw new GessoError("Pass either apiKey or getToken, not both.");
  const apiKey = options.apiKey ?? (getToken || proxyUrl ? undefined : readVariable("GESSO_API_KEY"));
  if (apiKey && isBrowser() && !options.dangerouslyAllowBrowser) {
    throw new GessoError(
      "Every visitor can see an API key in a page. Pass getToken or proxyUrl instead. If only you open the page, set " +
        "dangerouslyAllowBrowser: true.",
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
    // A browser's fetch throws if it is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    log: createLevelLogger(options.logger ?? console, level ?? "warn"),
  };
}
