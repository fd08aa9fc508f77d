// GET requests to URLs that the operator configured, such as OIDC issuers.
import { trustedRequest } from "./trusted-request.ts";

export async function trustedHttpGet(
  url: string,
  limits: { timeoutMs: number; maxBytes: number },
): Promise<{ status: number; text: string }> {
  const { status, bytes } = await trustedRequest(url, { method: "GET", ...limits });
  return { status, text: Buffer.from(bytes).toString("utf8") };
}
