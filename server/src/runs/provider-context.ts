// The context of one adapter call: the provider's settings, the attempt's idempotency key, its callback URL, and an
// HTTP client that stops before the attempt lease expires.
import type { AttemptRef } from "../db/runs/attempts.ts";
import type { Clock } from "../kit/clock.ts";
import type { OutboundHttp } from "../outbound/outbound-http.ts";
import type { Provider, ProviderContext } from "../providers/provider.ts";
import { attemptKey } from "./ids.ts";

export type ProviderCallbacks = {
  /** Whether providers can reach the public URL of this server. */
  isPublicUrlReachable: boolean;
  /** Returns the signed URL that the provider calls when the job of this attempt changes. */
  signUrl(provider: string, attempt: AttemptRef): string;
};

export type ContextDependencies = {
  http: Pick<OutboundHttp, "sendToProvider">;
  callbacks: ProviderCallbacks;
  submitSeconds: number;
  clock: Clock;
};

/**
 * `synchronousSeconds`: how long a synchronous offer may take. `unreachableSeconds`: how long the provider was
 * unreachable.
 */
export type ContextOptions = { synchronousSeconds?: number | undefined; unreachableSeconds?: number | undefined };

export function createProviderContext(
  { http, callbacks, submitSeconds, clock }: ContextDependencies,
  { provider, env }: { provider: Provider; env: unknown },
  attempt: AttemptRef,
  options: ContextOptions = {},
): ProviderContext<unknown> {
  const timeoutSeconds = options.synchronousSeconds ?? submitSeconds;
  // One deadline for all requests of this context: an upload and the submission after it together stay within the
  // lease.
  const deadline = clock.monotonic() + timeoutSeconds * 1000;
  const remainingSeconds = () => Math.max(0.001, (deadline - clock.monotonic()) / 1000);
  return {
    env,
    key: attemptKey(attempt),
    // A getter, because most calls need no callback URL and signing costs time.
    get callbackUrl() {
      return callbacks.isPublicUrlReachable || provider.canAlwaysCallBack
        ? callbacks.signUrl(provider.id, attempt)
        : undefined;
    },
    send: (url, request) => http.sendToProvider(url, { ...request, timeoutSeconds: remainingSeconds() }),
    now: clock.now,
    timeoutSeconds,
    isPublicUrlReachable: callbacks.isPublicUrlReachable,
    unreachableSeconds: options.unreachableSeconds ?? 0,
  };
}
