// Submits one request to a provider. This is the only step that spends money. The attempts row is the lease: it is inserted
// before the HTTP request and expires after the request has timed out, so no other worker can submit the same job meanwhile.
import { claimAttempt } from "../db/runs/attempts.ts";
import { armWake, type RunClaim } from "../db/runs/open-runs.ts";
import { Fault } from "../faults.ts";
import { estimateAttemptCost } from "./cost.ts";
import type { AttemptStart, ResolvedRequest, SubmitResult } from "./execute.ts";
import { attemptKey } from "./ids.ts";
import { acquireProviderSlot } from "./provider-slot.ts";
import { resolveOffer } from "./select-offer.ts";
import { leaseSeconds, sendToProvider } from "./send-to-provider.ts";
import type { Services } from "./services.ts";
import { resolveUnknownOutcome } from "./unknown-outcome.ts";

export async function submit(
  services: Services,
  claim: RunClaim,
  request: ResolvedRequest,
  attempt: AttemptStart,
): Promise<SubmitResult> {
  const { attemptNumber } = attempt;
  const slot = await acquireProviderSlot(services, claim, request, attemptNumber);
  if ("elsewhere" in slot) return { state: "retry", attemptNumber, delaySeconds: 0, offer: slot.elsewhere };
  if ("waitSeconds" in slot) return waitForProviderSlot(services, claim, attempt, slot.waitSeconds);

  const { live, offer } = resolveOffer(services, request.offer, request.job);
  const attemptRef = { run_id: claim.run_id, request_index: request.requestIndex, attempt_number: attemptNumber };
  const claimResult = await claimAttempt(services.db, {
    ...claim,
    ...attemptRef,
    idempotency_key: attemptKey(attemptRef.run_id, attemptRef.request_index, attemptRef.attempt_number),
    provider: live.provider.id,
    model: request.job.model,
    upstream: offer.upstreamModel,
    price: estimateAttemptCost(services, request.job, request.offer),
    wakeId: attempt.wakeupId,
    leaseSeconds: leaseSeconds(services),
    // Work with recovery `free` runs on our own machine, so it occupies a worker slot while it runs.
    runsLocally: offer.recovery === "free",
  });
  if (claimResult === "claim_lost" || claimResult === "canceled") return { state: claimResult };
  if (claimResult === "claimed") services.crashPoint("intent_written");
  return claimResult === "claimed"
    ? sendToProvider(services, claim, request, attemptRef)
    : resolveUnknownOutcome(services, claim, request);
}

/** Renews the claim while the run waits for a provider slot, and notices cancellation and the deadline. */
async function waitForProviderSlot(
  services: Services,
  claim: RunClaim,
  attempt: AttemptStart,
  seconds: number,
): Promise<SubmitResult> {
  const armed = await armWake(services.db, claim, { wakeId: attempt.wakeupId, seconds, activity: "waiting_for_slot" });
  if (!armed) return { state: "claim_lost" };
  if (armed.canceled) return { state: "canceled" };
  if (armed.remaining <= 0) throw new Fault("run_timeout");
  return { state: "wait", attemptNumber: attempt.attemptNumber, delaySeconds: seconds };
}
