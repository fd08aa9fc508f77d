// One HTTP request to a URL that the operator configured, such as an OIDC issuer or a signing service. It may be on a
// private network, so the SSRF policy does not apply; redirects are not followed, and time and size are limited.
import { Agent } from "undici";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createTimeoutSignal } from "../runtime/timeout-signal.ts";

type TrustedRequest = {
  method: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | null;
  timeoutMs: number;
  maxBytes: number;
  clock?: Pick<Clock, "after">;
};
type TrustedResponse = { status: number; contentType: string | undefined; bytes: Uint8Array };

async function trustedRequest(
  url: string,
  { method, headers = {}, body = null, timeoutMs, maxBytes, clock = systemClock }: TrustedRequest,
): Promise<TrustedResponse> {
  const agent = new Agent({ maxResponseSize: maxBytes, connect: { timeout: timeoutMs } });
  const timeout = createTimeoutSignal(clock, timeoutMs);
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      ...{ origin, path: `${pathname}${search}`, method: method as "GET" | "POST", headers, body },
      signal: timeout.signal,
    });
    const type = response.headers["content-type"];
    return {
      status: response.statusCode,
      contentType: typeof type === "string" ? type : undefined,
      bytes: new Uint8Array(await response.body.arrayBuffer()),
    };
  } finally {
    timeout.stop();
    await agent.destroy();
  }
}

/** GET requests to URLs that the operator configured, such as OIDC issuers. */
export async function trustedHttpGet(
  url: string,
  limits: { timeoutMs: number; maxBytes: number },
): Promise<{ status: number; text: string }> {
  const { status, bytes } = await trustedRequest(url, { method: "GET", ...limits });
  return { status, text: Buffer.from(bytes).toString("utf8") };
}

const POST_LIMITS = { timeoutMs: 10_000, maxBytes: 64 * 1024 };

/**
 * Posts bytes to a URL that the operator configured, and returns the bytes of the response: the signing service of
 * provenance.
 */
export async function postBytes(url: string, token: string | undefined, body: Uint8Array): Promise<Uint8Array> {
  const headers = {
    "content-type": "application/octet-stream",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const { status, bytes } = await trustedRequest(url, { method: "POST", headers, body, ...POST_LIMITS });
  if (status !== 200) throw new Error(`the signing service responded with ${status}`);
  return bytes;
}

const FETCH_LIMITS = { timeoutMs: 5000, maxBytes: 512 * 1024 };

type FetchOptions = { method: string; headers: Record<string, string>; body?: unknown };

/** Requests of any method to URLs that the operator configured, for the sign-in at identity providers. */
export async function trustedFetch(url: string, { method, headers, body }: FetchOptions): Promise<Response> {
  const text = body === undefined || body === null ? null : String(body);
  const { status, contentType, bytes } = await trustedRequest(url, { method, headers, body: text, ...FETCH_LIMITS });
  return new Response(bytes.byteLength === 0 ? null : Buffer.from(bytes), {
    status,
    headers: contentType === undefined ? {} : { "content-type": contentType },
  });
}
