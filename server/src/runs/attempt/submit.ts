// Submits one request to a provider. This is the only step that spends money.
//
// The attempts row is the lease: it is inserted before the HTTP request and expires after the request has timed out, so
// no other worker can submit the same job while the request may still be in flight.

import type { Job } from "../../contract/operation.ts";
import { giveUpUnsentAttempt } from "../../db/attempts/attempts.ts";
import { claimAttempt } from "../../db/attempts/claim-attempt.ts";
import { saveWakeup, type WakeupRegistration } from "../../db/attempts/open-requests.ts";
import type { Database } from "../../db/connect.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { pauseRun } from "../../db/runs/open-runs.ts";
import { startClaimedRun } from "../../db/runs/start-run.ts";
import { Fault, isTransient } from "../../faults/faults.ts";
import { attemptKey, processingEventId, toAttemptRef } from "../core/ids.ts";
import { estimateAttemptCost } from "../offers/cost.ts";
import { resolveOffer } from "../offers/select-offer.ts";
import type { AttemptStart, ResolvedRequest, SubmitResult } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import { leaseSeconds } from "./attempt-lease.ts";
import { acquireProviderSlot, type ProviderSlotResult, slotRetrySeconds } from "./provider-slot.ts";
import { sendToProvider } from "./send-to-provider.ts";
import { resolveUnknownOutcome } from "./unknown-outcome.ts";

const CLAIM_RETRY_MS = 500;
/** How often a request of a suspended tenant looks whether the other requests of its run have ended. */
const SUSPENDED_RETRY_SECONDS = 15;

/** A request that waits, with the wakeup that ends the wait early. */
type WaitingRequest = AttemptStart & Pick<ResolvedRequest, "requestIndex" | "offer">;

export async function submit(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  attempt: AttemptStart,
): Promise<SubmitResult> {
  const freeSeat = services.providers.takeSeat(request.offer.provider);
  try {
    const slot: ProviderSlotResult = freeSeat
      ? await acquireProviderSlot(services, claim, request, attempt.attemptNumber)
      : { state: "full", retryAfterSeconds: slotRetrySeconds(services.random) };
    return await submitWithSlot(services, claim, request, attempt, slot);
  } finally {
    freeSeat?.();
  }
}

async function submitWithSlot(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  attempt: AttemptStart,
  slot: ProviderSlotResult,
): Promise<SubmitResult> {
  const { attemptNumber, wakeupId } = attempt;
  const waiting = { ...attempt, requestIndex: request.requestIndex, offer: request.offer };
  const start = request.startsRun ? { eventId: processingEventId(claim), plan: [request.job as Job] } : undefined;
  if (start && slot.state !== "acquired" && !(await startClaimedRun(services.database, claim, start.eventId)))
    return { state: "claim_lost" };
  if (slot.state === "use_other_offer") return { state: "retry", attemptNumber, delaySeconds: 0, offer: slot.offer };
  if (slot.state === "full")
    return waitWithClaim(services, claim, waiting, { seconds: slot.retryAfterSeconds, activity: "waiting_for_slot" });

  const { enabledProvider, offer } = resolveOffer(services, request.offer, request.job);
  const attemptRef = toAttemptRef(claim.run_id, request.requestIndex, attemptNumber);
  const leased = { ...attemptRef, leaseToken: services.ids.next(), leasedAt: services.clock.monotonic() };
  const claimLease = () =>
    claimAttempt(services.database, {
      ...claim,
      ...attemptRef,
      idempotency_key: attemptKey(attemptRef),
      provider: enabledProvider.provider.id,
      model: request.job.model,
      upstream: offer.upstreamModel,
      price: estimateAttemptCost(services, request.job, request.offer),
      wakeupId,
      leaseSeconds: leaseSeconds(services),
      leaseToken: leased.leaseToken,
      spoolId: services.spool.id(),
      // Work with recovery `free` runs on our own machine, so it occupies a worker slot while it runs.
      runsLocally: offer.recovery === "free",
      start,
    });
  // If the response of PostgreSQL is lost, the same token claims the attempt again: nothing was sent yet.
  const lease = await claimLease().catch(async (thrown) => {
    if (!isTransient(thrown)) throw thrown;
    await services.clock.sleep(CLAIM_RETRY_MS);
    return claimLease();
  });
  switch (lease) {
    case "claimed":
      services.crashPoint("intent_written");
      return keepClaimDuringWait(services, claim, waiting, await sendToProvider(services, claim, request, leased));
    case "claimed_by_other":
      return keepClaimDuringWait(services, claim, waiting, await resolveUnknownOutcome(services, claim, request));
    case "suspended":
      return pauseWhileSuspended(services, claim, waiting);
    case "claim_lost":
    case "canceled":
      return { state: lease };
  }
}

/**
 * Extends the claim if the request waits longer than the claim lasts, for example because a provider asked for minutes.
 * Otherwise the reconciler would take the run for lost and submit it again too early.
 */
async function keepClaimDuringWait(
  services: AttemptDependencies,
  claim: RunClaim,
  { requestIndex, wakeupId }: WaitingRequest,
  result: SubmitResult,
): Promise<SubmitResult> {
  const seconds = "delaySeconds" in result ? result.delaySeconds : 0;
  if (seconds <= leaseSeconds(services)) return result;
  // The wait matters more than the claim: a run that is requeued would submit again without it.
  await saveWakeup(services.database, claim, requestIndex, { wakeupId, seconds, activity: "at_provider" }).catch(
    (thrown) => services.log.warn({ run_id: claim.run_id, err: thrown }, "extending the claim of a waiting run failed"),
  );
  return result;
}

/**
 * The tenant is suspended: the run returns to the queue, which starts it again when the tenant is active. While other
 * requests of the run are in progress, the request waits, because they are paid and this invocation collects them.
 */
async function pauseWhileSuspended(
  services: { database: Database },
  claim: RunClaim,
  waiting: WaitingRequest,
): Promise<SubmitResult> {
  if (await pauseRun(services.database, claim)) return { state: "claim_lost" };
  return waitWithClaim(services, claim, waiting, { seconds: SUSPENDED_RETRY_SECONDS, activity: "at_provider" });
}

/**
 * Renews the claim while the request waits, and notices cancellation and the deadline. A request whose attempt was
 * begun is paid, possibly: it waits for its turn to be resolved, also past the deadline, as after a long outage. One
 * that was not begun is given up in a way that another process, which executes the same step, can no longer begin it.
 */
async function waitWithClaim(
  { database }: { database: Database },
  claim: RunClaim,
  { requestIndex, attemptNumber, wakeupId, offer }: WaitingRequest,
  { seconds, activity }: Omit<WakeupRegistration, "wakeupId">,
): Promise<SubmitResult> {
  const registration = await saveWakeup(database, claim, requestIndex, { wakeupId, seconds, activity });
  if (!registration) return { state: "claim_lost" };
  if (registration.canceled) return { state: "canceled" };
  if (registration.remaining <= 0) {
    const ref = toAttemptRef(claim.run_id, requestIndex, attemptNumber);
    const to = { idempotency_key: attemptKey(ref), provider: offer.provider, upstream: offer.upstreamModel };
    const fault = new Fault("run_timeout");
    if (await giveUpUnsentAttempt(database, claim, { ...ref, ...to }, fault.body())) throw fault;
  }
  return { state: "wait", attemptNumber, delaySeconds: seconds };
}
