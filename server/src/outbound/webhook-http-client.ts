// Sends a message to an address that a customer gave us: to public machines and what an operator allowed, nothing else. The
// address is looked at anew each time, no redirect is followed, and of the answer only its beginning is read.
import { Agent, type Dispatcher } from "undici";
import { createDnsResolver } from "./dns-resolver.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createPinnedConnector } from "./pinned-connector.ts";
import { createUrlPolicy, hostOf, parseWebUrl, urlNotAllowed } from "./url-policy.ts";

const CONNECT_MS = 5_000;
const MOST_ANSWER_BYTES = 64 * 1024;
/** What is said after the headers changes nothing: nobody is waited for longer than this. */
const ANSWER_MS = 2_000;
const KEPT_BYTES = 1024;

export type WebhookHttpRequest = { headers: Record<string, string>; body: string; timeoutSeconds: number };
export type WebhookHttpResponse = { status: number; retryAfter: string | undefined; text: string };
export type WebhookHttpClient = {
  /** Throws for an address that would never be written to, as far as that can be told without looking names up. */
  check(url: string): URL;
  /** Throws `url_not_allowed`, or whatever the connection did. What the receiver says is never thrown. */
  post(url: string, posting: WebhookHttpRequest): Promise<WebhookHttpResponse>;
  close(): Promise<void>;
};

/** `ownUrl` is where we are reached ourselves: nobody has us write to ourselves. */
export function createWebhookHttpClient(env: FetchSettings, ownUrl: string, allowHttp: boolean): WebhookHttpClient {
  const policy = createUrlPolicy({
    allowRanges: env.FETCH_ALLOW_CIDRS,
    deny: [...env.FETCH_DENY, hostOf(new URL(ownUrl))],
    ports: env.FETCH_PORTS,
  });
  const guard = {
    resolve: createDnsResolver(env.FETCH_DNS_SERVERS),
    isAllowed: policy.isAllowedIp,
    connectMs: CONNECT_MS,
  };
  // A connection for each message: one that was kept may be closed by the other side in the moment that we write to it.
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
      const late = AbortSignal.timeout(timeoutSeconds * 1_000);
      // A request that is still being connected does not hear its signal.
      const tooLate = new Promise<never>((_, reject) => late.addEventListener("abort", () => reject(late.reason)));
      tooLate.catch(() => {});
      const response = agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers,
        body,
        signal: late,
      });
      response.catch(() => {});
      const answer = await Promise.race([response, tooLate]);
      const retryAfter = [answer.headers["retry-after"]].flat()[0];
      return { status: answer.statusCode, retryAfter, text: await readResponseStart(answer.body) };
    },
    close: () => agent.destroy(),
  };
}

async function readResponseStart(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const timer = setTimeout(() => body.destroy(), ANSWER_MS);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (size < KEPT_BYTES) chunks.push(chunk);
      size += chunk.byteLength;
      if (size > MOST_ANSWER_BYTES) break;
    }
  } catch {
    // The status was read: whatever became of the rest, it counts.
  } finally {
    clearTimeout(timer);
    body.on("error", () => undefined).destroy();
  }
  return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString("utf8").replaceAll("\0", "").toWellFormed();
}

/** A word for what went wrong with a connection. */
export function connectionErrorCode(thrown: unknown): string {
  const { name, code: given } = thrown as NodeJS.ErrnoException;
  const code = String(given);
  if (code === "url_not_allowed") return "webhook_url_not_allowed";
  if (name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(code)) return "timeout";
  if (/ENOTFOUND|EAI_/.test(code)) return "name";
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return "tls";
  return "connection";
}
