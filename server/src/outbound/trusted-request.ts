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

export async function trustedRequest(
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
