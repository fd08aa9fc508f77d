// Checks before a submission: lifecycle of the offer, circuit breaker, concurrency limit and rate limit of the provider over
// all processes. A request that may not be sent now fails over to an equivalent offer or waits, without holding a worker slot.
import { findLatestAttempt } from "../db/runs/attempts.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import { claimProviderSlot, takeRateLimitToken } from "../db/runs/provider-slots.ts";
import { Fault } from "../faults.ts";
import type { SelectedOffer } from "../providers/provider.ts";
import type { ResolvedRequest } from "./execute.ts";
import { listFailoverOffers, resolveOffer, toSelectedOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

export type ProviderSlotResult = { pass: true } | { elsewhere: SelectedOffer } | { waitSeconds: number };

/** Delay before asking for a provider slot again. Random, so that waiting runs do not ask at the same time. */
const slotRetrySeconds = () => 0.5 + Math.random();
const MAX_SLOT_WAIT_SECONDS = 15;

export async function acquireProviderSlot(
  services: Services,
  claim: RunClaim,
  request: ResolvedRequest,
  attemptNumber: number,
): Promise<ProviderSlotResult> {
  const { live, offer } = resolveOffer(services, request.offer, request.job);
  if (
    offer.lifecycle?.state === "retired" &&
    !(await isAttemptStarted(services, claim, request.requestIndex, attemptNumber))
  ) {
    const [failoverOffer] = listFailoverOffers(services, request.offer, request.job);
    if (!failoverOffer) throw new Fault("model_unavailable", { model: request.job.model });
    return { elsewhere: toSelectedOffer(failoverOffer) };
  }
  if (!(await services.circuitBreaker.tryAcquire(request.offer))) {
    // An attempt that was already started must be resolved at its own provider, so it does not fail over here.
    if (await isAttemptStarted(services, claim, request.requestIndex, attemptNumber)) return { pass: true };
    const failoverOffer = listFailoverOffers(services, request.offer, request.job).find(
      (each) => services.circuitBreaker.openForSeconds(toSelectedOffer(each)) === 0,
    );
    if (failoverOffer) return { elsewhere: toSelectedOffer(failoverOffer) };
    const seconds = Math.max(services.circuitBreaker.openForSeconds(request.offer), slotRetrySeconds());
    return { waitSeconds: Math.min(seconds, MAX_SLOT_WAIT_SECONDS) };
  }
  const { concurrent, perMinute } = live.provider.rateLimit ?? {};
  if (concurrent !== undefined && !(await claimProviderSlot(services.db, live.provider.id, claim, concurrent))) {
    return { waitSeconds: slotRetrySeconds() };
  }
  const rateLimitSeconds =
    perMinute === undefined ? 0 : await takeRateLimitToken(services.db, live.provider.id, perMinute);
  return rateLimitSeconds > 0 ? { waitSeconds: Math.min(rateLimitSeconds, MAX_SLOT_WAIT_SECONDS) } : { pass: true };
}

async function isAttemptStarted(
  services: Services,
  claim: RunClaim,
  job: number,
  attemptNumber: number,
): Promise<boolean> {
  const latest = await findLatestAttempt(services.db, claim.run_id, job);
  return latest !== undefined && latest.attempt_number >= attemptNumber;
}
