// Sends webhook requests to untrusted URLs: only to public hosts and hosts that the operator allows, and in development
// to this machine. The URL is checked on every request, redirects are not followed, and only the start of the response
// is read.
import { isIP } from "node:net";
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../runtime/clock.ts";
import { createTimeoutSignal } from "../runtime/timeout-signal.ts";
import { createDnsResolver } from "./dns-resolver.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createIpRangeMatcher } from "./ip-ranges.ts";
import { createPinnedConnector } from "./pinned-connector.ts";
import { createUrlPolicy, hostOf, parseWebUrl, portOf, urlNotAllowed } from "./url-policy.ts";

const CONNECT_MS = 5_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Timeout for the response body. It does not affect the outcome, which the status decides. */
const ANSWER_MS = 2_000;
const KEPT_BYTES = 1024;
const isLoopbackIp = createIpRangeMatcher(["127.0.0.0/8", "::1/128"]);
/** A receiver that listens on `localhost` may have either address. */
const LOCALHOST = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

export type WebhookHttpRequest = { headers: Record<string, string>; body: string; timeoutSeconds: number };
export type WebhookHttpResponse = { status: number; retryAfter: string | undefined; text: string };
export type WebhookHttpClient = {
  /** Throws `url_not_allowed` if the URL is denied by its text alone, without DNS. */
  check(url: string): URL;
  /** Throws `url_not_allowed` or a connection error. Every HTTP response is returned, whatever its status. */
  post(url: string, posting: WebhookHttpRequest): Promise<WebhookHttpResponse>;
  close(): Promise<void>;
};
type WebhookTargets = { ownUrl: string; allowHttp: boolean; allowRanges: string[]; allowLoopback: boolean };

/**
 * `ownUrl` is the public URL of the API, which never receives webhooks. `allowRanges` are the private IP ranges that
 * may: the ranges for fetching images do not apply, because a webhook sends data into them. `allowLoopback`: any port
 * of this machine may, except that of the API, where the URL itself names this machine.
 */
export function createWebhookHttpClient(
  env: Pick<FetchSettings, "FETCH_DENY" | "FETCH_PORTS" | "FETCH_DNS_SERVERS">,
  { ownUrl, allowHttp, allowRanges, allowLoopback }: WebhookTargets,
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

  // A name that resolves to this machine is still refused: only `localhost` and addresses of it are certain to mean it.
  const ownAgent = new Agent({
    connect: createPinnedConnector({ ...guard, resolve: async () => LOCALHOST, isAllowed: isLoopbackIp }),
    ...{ pipelining: 0, headersTimeout: 0, bodyTimeout: 0 },
  });
  const ownPort = portOf(new URL(ownUrl));
  const isOwnMachine = (url: URL): boolean => allowLoopback && isLoopbackHost(hostOf(url));

  const check = (text: string): URL => {
    const url = parseWebUrl(text);
    if (isOwnMachine(url)) {
      if (portOf(url) === ownPort) throw urlNotAllowed("host");
      return url;
    }
    const [first, ...others] = [
      ...policy.listRefusals(url),
      ...(url.protocol !== "https:" && !allowHttp ? (["scheme"] as const) : []),
    ];
    if (first) throw urlNotAllowed(first, ...others);
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
      const pending = (isOwnMachine(url) ? ownAgent : agent).request({
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
    close: async () => void (await Promise.all([agent.destroy(), ownAgent.destroy()])),
  };
}

const isLoopbackHost = (host: string): boolean => host === "localhost" || (isIP(host) !== 0 && isLoopbackIp(host));

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
