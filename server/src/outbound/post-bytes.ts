// Posts bytes to a URL that the operator configured, and returns the bytes of the response: the signing service of
// provenance. As `trustedFetch`: the SSRF policy does not apply, redirects are not followed, time and size are limited.
import { Agent } from "undici";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

export async function postBytes(url: string, token: string | undefined, bytes: Uint8Array): Promise<Uint8Array> {
  const agent = new Agent({ maxResponseSize: MAX_BYTES, connect: { timeout: TIMEOUT_MS } });
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: bytes,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = new Uint8Array(await response.body.arrayBuffer());
    if (response.statusCode !== 200) throw new Error(`the signing service responded with ${response.statusCode}`);
    return body;
  } finally {
    await agent.destroy();
  }
}
