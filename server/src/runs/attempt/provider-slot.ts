// Checks before a submission: lifecycle of the offer, circuit breaker, concurrency limit and rate limit of the provider
// over all processes. A request that may not be sent now fails over to an equivalent offer or waits, without holding a
// worker slot.

import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import { claimProviderSlot, takeRateLimitToken } from "../../db/attempts/provider-slots.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault } from "../../faults/faults.ts";
import type { SelectedOffer } from "../../providers/provider.ts";
import type { Random } from "../../runtime/clock.ts";
import { listFailoverOffers, resolveOffer, toSelectedOffer } from "../offers/select-offer.ts";
import type { ResolvedRequest } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";

export type ProviderSlotResult =
  | { state: "acquired" }
  | { state: "use_other_offer"; offer: SelectedOffer }
  | { state: "full"; retryAfterSeconds: number };

type Dependencies = Pick<AttemptDependencies, "database" | "providers" | "random">;

/** Delay before asking for a provider slot again. Random, so that waiting runs do not ask at the same time. */
export const slotRetrySeconds = (random: Random) => 0.5 + random();
const MAX_SLOT_WAIT_SECONDS = 15;

export async function acquireProviderSlot(
  services: Dependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  attemptNumber: number,
): Promise<ProviderSlotResult> {
  const { database, random } = services;
  const { circuitBreaker } = services.providers;
  const { enabledProvider, offer } = resolveOffer(services, request.offer, request.job);
  // An attempt that was already started must be resolved at its own provider, so it never fails over here.
  const isStarted = () => isAttemptStarted(services, claim, request.requestIndex, attemptNumber);
  if (offer.lifecycle?.state === "retired" && !(await isStarted())) {
    const [failoverOffer] = listFailoverOffers(services, request.offer, request.job);
    if (!failoverOffer) throw new Fault("model_unavailable", { model: request.job.model });
    return { state: "use_other_offer", offer: toSelectedOffer(failoverOffer) };
  }
  if (!(await circuitBreaker.tryAcquire(request.offer))) {
    if (await isStarted()) return { state: "acquired" };
    const failoverOffer = listFailoverOffers(services, request.offer, request.job).find(
      (each) => circuitBreaker.openForSeconds(toSelectedOffer(each)) === 0,
    );
    if (failoverOffer) return { state: "use_other_offer", offer: toSelectedOffer(failoverOffer) };
    return full(Math.max(circuitBreaker.openForSeconds(request.offer), slotRetrySeconds(random)));
  }
  const { id, rateLimit: { concurrent, perMinute } = {} } = enabledProvider.provider;
  const { requestIndex } = request;
  if (concurrent !== undefined && !(await claimProviderSlot(database, id, { ...claim, requestIndex }, concurrent)))
    return full(slotRetrySeconds(random));
  const rateLimitSeconds = perMinute === undefined ? 0 : await takeRateLimitToken(database, id, perMinute);
  return rateLimitSeconds > 0 ? full(rateLimitSeconds) : { state: "acquired" };
}

const full = (seconds: number): ProviderSlotResult => ({
  state: "full",
  retryAfterSeconds: Math.min(seconds, MAX_SLOT_WAIT_SECONDS),
});

async function isAttemptStarted(
  { database }: Dependencies,
  claim: RunClaim,
  requestIndex: number,
  attemptNumber: number,
): Promise<boolean> {
  const latest = await findLatestAttempt(database, claim.run_id, requestIndex);
  return latest !== undefined && latest.attempt_number >= attemptNumber;
}
