// Requests of any method to URLs that the operator configured, for the sign-in at identity providers.
import { trustedRequest } from "./trusted-request.ts";

const LIMITS = { timeoutMs: 5000, maxBytes: 512 * 1024 };

type FetchOptions = { method: string; headers: Record<string, string>; body?: unknown };

export async function trustedFetch(url: string, { method, headers, body }: FetchOptions): Promise<Response> {
  const text = body === undefined || body === null ? null : String(body);
  const { status, contentType, bytes } = await trustedRequest(url, { method, headers, body: text, ...LIMITS });
  return new Response(bytes.byteLength === 0 ? null : Buffer.from(bytes), {
    status,
    headers: contentType === undefined ? {} : { "content-type": contentType },
  });
}
