// Sends webhook requests to untrusted URLs: only to public hosts and hosts that the operator allows. The URL is
// checked on every request, redirects are not followed, and only the start of the response is read.
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../kit/clock.ts";
import { createTimeoutSignal } from "../kit/timeout-signal.ts";
import { createDnsResolver } from "./dns-resolver.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createPinnedConnector } from "./pinned-connector.ts";
import { createUrlPolicy, hostOf, parseWebUrl, urlNotAllowed } from "./url-policy.ts";

const CONNECT_MS = 5_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Timeout for the response body. It does not affect the outcome, which the status decides. */
const ANSWER_MS = 2_000;
const KEPT_BYTES = 1024;

export type WebhookHttpRequest = { headers: Record<string, string>; body: string; timeoutSeconds: number };
export type WebhookHttpResponse = { status: number; retryAfter: string | undefined; text: string };
export type WebhookHttpClient = {
  /** Throws `url_not_allowed` if the URL is denied by its text alone, without DNS. */
  check(url: string): URL;
  /** Throws `url_not_allowed` or a connection error. Every HTTP response is returned, whatever its status. */
  post(url: string, posting: WebhookHttpRequest): Promise<WebhookHttpResponse>;
  close(): Promise<void>;
};

/**
 * `ownUrl` is the public URL of the API, which never receives webhooks. `allowRanges` are the private IP ranges that
 * may: the ranges for fetching images do not apply, because a webhook sends data into them.
 */
export function createWebhookHttpClient(
  env: Pick<FetchSettings, "FETCH_DENY" | "FETCH_PORTS" | "FETCH_DNS_SERVERS">,
  { ownUrl, allowHttp, allowRanges }: { ownUrl: string; allowHttp: boolean; allowRanges: string[] },
  clock: Pick<Clock, "after">,
): WebhookHttpClient {
  const policy = createUrlPolicy({
    allowRanges,
    deny: [...env.FETCH_DENY, hostOf(new URL(ownUrl))],
    ports: env.FETCH_PORTS,
  });
  const guard = {
    resolve: createDnsResolver(env.FETCH_DNS_SERVERS),
    isAllowed: policy.isAllowedIp,
    connectMs: CONNECT_MS,
  };
  // One connection per request: a kept-alive connection can be closed by the receiver while the request is sent.
  const agent = new Agent({ connect: createPinnedConnector(guard), pipelining: 0, headersTimeout: 0, bodyTimeout: 0 });

  const check = (text: string): URL => {
    const url = parseWebUrl(text);
    if (url.protocol !== "https:" && !allowHttp) throw urlNotAllowed("scheme");
    policy.check(url);
    return url;
  };
  return {
    check,
    async post(text, { headers, body, timeoutSeconds }) {
      const url = check(text);
      const timeout = createTimeoutSignal(clock, timeoutSeconds * 1_000);
      // undici ignores the signal while it connects.
      const timedOut = new Promise<never>((_, reject) =>
        timeout.signal.addEventListener("abort", () => reject(timeout.signal.reason)),
      );
      timedOut.catch(() => {});
      const pending = agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers,
        body,
        signal: timeout.signal,
      });
      pending.catch(() => {});
      try {
        const response = await Promise.race([pending, timedOut]);
        const retryAfter = [response.headers["retry-after"]].flat()[0];
        return { status: response.statusCode, retryAfter, text: await readResponseStart(response.body, clock) };
      } finally {
        timeout.stop();
      }
    },
    close: () => agent.destroy(),
  };
}

async function readResponseStart(body: Dispatcher.ResponseData["body"], clock: Pick<Clock, "after">): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const timer = clock.after(ANSWER_MS, () => body.destroy());
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (size < KEPT_BYTES) chunks.push(chunk);
      size += chunk.byteLength;
      if (size > MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The status is known, so an error in the body is ignored.
  } finally {
    timer.stop();
    body.on("error", () => undefined).destroy();
  }
  return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString("utf8").replaceAll("\0", "").toWellFormed();
}

/** A short code for a connection error. */
export function connectionErrorCode(thrown: unknown): string {
  const { name, code: given } = thrown as NodeJS.ErrnoException;
  const code = String(given);
  if (code === "url_not_allowed") return "webhook_url_not_allowed";
  if (name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(code)) return "timeout";
  if (/ENOTFOUND|EAI_/.test(code)) return "name";
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return "tls";
  return "connection";
}
