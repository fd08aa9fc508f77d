// GET requests to URLs that the operator configured, such as OIDC issuers. They may be on a private network, so the
// SSRF policy does not apply; redirects are not followed, and time and size are limited.
import { Agent } from "undici";

export async function trustedHttpGet(
  url: string,
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
): Promise<{ status: number; text: string }> {
  const agent = new Agent({ maxResponseSize: maxBytes, connect: { timeout: timeoutMs } });
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: "GET",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.statusCode, text: await response.body.text() };
  } finally {
    await agent.destroy();
  }
}
