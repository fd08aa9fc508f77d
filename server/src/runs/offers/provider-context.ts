// The context of one adapter call: the provider's settings, the attempt's idempotency key, its callback URL, and an
// HTTP client that stops before the attempt lease expires.
import type { AttemptRef } from "../../db/attempts/attempts.ts";
import { Fault, passesByItself } from "../../faults/faults.ts";
import type { RunPixelTask } from "../../files/images/pixel-tasks.ts";
import type { OutboundHttp } from "../../outbound/outbound-http.ts";
import { jobFailed, providerBusy, providerFault } from "../../providers/call-provider.ts";
import type { Provider, ProviderContext } from "../../providers/provider.ts";
import type { Clock } from "../../runtime/clock.ts";
import { attemptKey } from "../core/ids.ts";

export type ProviderCallbacks = {
  /** Whether providers can reach the public URL of this server. */
  isPublicUrlReachable: boolean;
  /** Returns the signed URL that the provider calls when the job of this attempt changes. */
  signUrl(provider: string, attempt: AttemptRef): string;
};

export type ContextDependencies = {
  http: Pick<OutboundHttp, "sendToProvider">;
  callbacks: ProviderCallbacks;
  runPixelTask: RunPixelTask;
  isWeakIsolationAllowed?: boolean;
  submitSeconds: number;
  clock: Clock;
};

/** Times of the monotonic clock, in milliseconds. `isLost`: the run has ended, or another process took the lease. */
export type HeldLease = { startedAt: number; endsAt: number; isLost: boolean };

/**
 * `synchronousSeconds`: how long a synchronous offer may take. `unreachableSeconds`: how long the provider was
 * unreachable. `submittedSeconds`: how long ago it accepted the job. `lease`: the lease of the attempt that is
 * submitted; without one, nothing is submitted.
 */
export type ContextOptions = {
  synchronousSeconds?: number | undefined;
  unreachableSeconds?: number | undefined;
  submittedSeconds?: number | undefined;
  lease?: HeldLease | undefined;
};

/** The cause of the failure of a request that was not sent, because the lease of its attempt may have expired. */
export const LEASE_EXPIRED = "the lease of the attempt expired before the request was sent";

export function createProviderContext(
  { http, callbacks, runPixelTask, isWeakIsolationAllowed, submitSeconds, clock }: ContextDependencies,
  { provider, env }: { provider: Provider; env: unknown },
  attempt: AttemptRef,
  options: ContextOptions = {},
): ProviderContext<unknown> {
  const timeoutSeconds = options.synchronousSeconds ?? submitSeconds;
  const { lease } = options;
  // One deadline for all requests of this context: an upload and the submission after it together stay within the
  // lease. It counts from when the lease was asked for, because this process may have been stalled since.
  const deadline = (lease?.startedAt ?? clock.monotonic()) + timeoutSeconds * 1000;
  const remainingSeconds = () => Math.max(0.001, (deadline - clock.monotonic()) / 1000);
  const isLeaseOver = () => lease !== undefined && clock.monotonic() >= Math.min(deadline, lease.endsAt);
  return {
    env,
    key: attemptKey(attempt),
    // A getter, because most calls need no callback URL and signing costs time.
    get callbackUrl() {
      return callbacks.isPublicUrlReachable || provider.canAlwaysCallBack
        ? callbacks.signUrl(provider.id, attempt)
        : undefined;
    },
    async send(url, request) {
      if (isLeaseOver()) throw providerFault("provider_error", { kind: "unsent", cause: LEASE_EXPIRED });
      return http.sendToProvider(url, { ...request, timeoutSeconds: remainingSeconds() });
    },
    runPixelTask: (task, inputs) =>
      runPixelTask(task, inputs, Math.min(remainingSeconds(), submitSeconds)).catch((thrown) => {
        throw toPixelTaskFault(thrown);
      }),
    isWeakIsolationAllowed,
    now: clock.now,
    after: clock.after,
    timeoutSeconds,
    isPublicUrlReachable: callbacks.isPublicUrlReachable,
    unreachableSeconds: options.unreachableSeconds ?? 0,
    submittedSeconds: options.submittedSeconds ?? 0,
  };
}

const PIXEL_TASK_RETRY_SECONDS = 5;

/** Nothing was sent to the provider. Without a free process the job is repeated; an undecodable image fails it. */
const toPixelTaskFault = (thrown: unknown): Fault =>
  passesByItself(thrown) || (thrown instanceof Fault && thrown.code === "service_overloaded")
    ? providerBusy(thrown, PIXEL_TASK_RETRY_SECONDS)
    : jobFailed(thrown);
