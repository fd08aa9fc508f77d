// Posts bytes to a URL that the operator configured, and returns the bytes of the response: the signing service of
// provenance.
import { trustedRequest } from "./trusted-request.ts";

const LIMITS = { timeoutMs: 10_000, maxBytes: 64 * 1024 };

export async function postBytes(url: string, token: string | undefined, body: Uint8Array): Promise<Uint8Array> {
  const headers = {
    "content-type": "application/octet-stream",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const { status, bytes } = await trustedRequest(url, { method: "POST", headers, body, ...LIMITS });
  if (status !== 200) throw new Error(`the signing service responded with ${status}`);
  return bytes;
}
