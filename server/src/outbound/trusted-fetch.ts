// Requests of any method to URLs that the operator configured, for the sign-in at identity providers. As
// `trustedHttpGet`: the SSRF policy does not apply, redirects are not followed, and time and size are limited.
import { Agent } from "undici";

const TIMEOUT_MS = 5000;
const MAX_BYTES = 512 * 1024;

type TrustedRequest = { method: string; headers: Record<string, string>; body?: unknown };

export async function trustedFetch(url: string, { method, headers, body }: TrustedRequest): Promise<Response> {
  const agent = new Agent({ maxResponseSize: MAX_BYTES, connect: { timeout: TIMEOUT_MS } });
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: method as "GET" | "POST",
      headers,
      body: body === undefined || body === null ? null : String(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.body.text();
    const type = response.headers["content-type"];
    return new Response(text === "" ? null : text, {
      status: response.statusCode,
      headers: typeof type === "string" ? { "content-type": type } : {},
    });
  } finally {
    await agent.destroy();
  }
}
