// Resolves an attempt whose outcome is unknown. Depending on `recovery`, it resends with the same idempotency key, looks the
// job up at the provider, or waits for its callback. It never submits again while the first request may have been accepted,
// unless the operator set on_unknown to `resubmit`.
import {
  type AttemptRow,
  failAttempt,
  findLatestAttempt,
  markOutcomeUnknown,
  saveTicket,
  takeOverAttempt,
} from "../db/runs/attempts.ts";
import { type RunClaim, renewClaim } from "../db/runs/open-runs.ts";
import { Fault, toFault } from "../faults.ts";
import type { SelectedOffer, Ticket } from "../providers/provider.ts";
import type { ResolvedRequest, SubmitResult } from "./execute.ts";
import { createProviderContext } from "./provider-context.ts";
import { type ResolvedOffer, resolveOffer } from "./select-offer.ts";
import { findFailoverOffer, leaseSeconds, sendToProvider } from "./send-to-provider.ts";
import type { Services } from "./services.ts";

/** How often to look whether a callback has come, beside being woken by it. */
const CALLBACK_CHECK_SECONDS = 15;
const LOOKUP_RETRY_SECONDS = 5;

export async function resolveUnknownOutcome(
  services: Services,
  claim: RunClaim,
  work: ResolvedRequest,
): Promise<SubmitResult> {
  const latest = await findLatestAttempt(services.db, claim.run_id, work.requestIndex);
  if (!latest) throw new Fault("internal_error", {}, { cause: "the claimed attempt does not exist" });
  const attemptNumber = latest.attempt_number;
  // Ask the provider that got this attempt; the offer selected for the next attempt may be another one.
  const originalRequest = {
    ...work,
    offer: { provider: latest.provider, upstreamModel: latest.upstream ?? work.offer.upstreamModel },
  };
  if (latest.ticket) return adoptTicket(services, latest, latest.ticket as Ticket, originalRequest.offer);
  if (latest.is_final) throw new Fault(latest.fault!.code, latest.fault!.details);
  if (latest.state === "failed" || latest.state === "abandoned")
    return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: 0 };
  if (latest.state === "intent" && latest.lease_seconds > 0)
    return { state: "wait", attemptNumber, delaySeconds: latest.lease_seconds + 0.5 };

  const { live, offer } = resolveOffer(services, originalRequest.offer, work.job);
  if (offer.recovery === "replay" || offer.recovery === "free")
    return resendAttempt(services, claim, originalRequest, latest);
  if (offer.recovery === "find") return findJobAtProvider(services, claim, originalRequest, latest);
  return waitForCallback(services, latest, { live, offer });
}

async function adoptTicket(
  services: Services,
  { run_id, request_index: job, attempt_number: attempt }: AttemptRow,
  ticket: Ticket,
  offer: SelectedOffer,
): Promise<SubmitResult> {
  await saveTicket(services.db, { run_id, request_index: job, attempt_number: attempt }, { ticket }, 1);
  return { state: "running", attemptNumber: attempt, offer };
}

async function resendAttempt(
  services: Services,
  claim: RunClaim,
  work: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const id = { run_id: latest.run_id, request_index: latest.request_index, attempt_number: latest.attempt_number };
  const isTakenOver = await takeOverAttempt(services.db, id, claim, leaseSeconds(services));
  return isTakenOver
    ? sendToProvider(services, claim, work, id)
    : { state: "wait", attemptNumber: latest.attempt_number, delaySeconds: 1 };
}

async function findJobAtProvider(
  services: Services,
  claim: RunClaim,
  work: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const { live, offer } = resolveOffer(services, work.offer, work.job);
  const lookup = await live.provider.findJob!(createProviderContext(services, live, latest)).then(
    (ticket) => ({ ticket }),
    (thrown) => ({ fault: toFault(thrown) }),
  );
  if ("fault" in lookup) {
    // provider_outcome_unknown: the provider cannot tell, so only a callback can. Any other failure is retried.
    const isUnknowable = lookup.fault.code === "provider_outcome_unknown";
    if (isUnknowable) return waitForCallback(services, latest, { live, offer });
    services.log.warn({ run_id: claim.run_id, err: lookup.fault.cause }, "looking up a job at the provider failed");
    return retryLookup(services, claim, latest);
  }
  if (lookup.ticket) return adoptTicket(services, latest, lookup.ticket, work.offer);
  const grace = services.limits.lookupGraceSeconds;
  if (latest.unknown_seconds !== null && latest.unknown_seconds >= grace)
    return resubmitOrFailOver(services, claim, work, latest);
  await markOutcomeUnknown(services.db, latest);
  return {
    state: "wait",
    attemptNumber: latest.attempt_number,
    delaySeconds: grace - (latest.unknown_seconds ?? 0) + 0.2,
  };
}

/** The provider cannot be asked at the moment. It is asked again as long as the run has time. */
async function retryLookup(services: Services, claim: RunClaim, latest: AttemptRow): Promise<SubmitResult> {
  const remaining = await renewClaim(services.db, claim);
  if (remaining === undefined) return { state: "claim_lost" };
  if (remaining > 0) return { state: "wait", attemptNumber: latest.attempt_number, delaySeconds: LOOKUP_RETRY_SECONDS };
  await markOutcomeUnknown(services.db, latest);
  throw new Fault("provider_outcome_unknown");
}

/** The provider does not know the job. While its circuit breaker is open, an equivalent offer may take the job. */
async function resubmitOrFailOver(
  services: Services,
  claim: RunClaim,
  work: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const isCircuitOpen = services.circuitBreaker.openForSeconds(work.offer) > 0;
  const failoverOffer = isCircuitOpen ? await findFailoverOffer(services, work, latest) : undefined;
  if (!failoverOffer) return resendAttempt(services, claim, work, latest);
  await failAttempt(services.db, latest, { fault: new Fault("provider_error").body(), isFinal: false });
  return { state: "retry", attemptNumber: latest.attempt_number + 1, delaySeconds: 0, offer: failoverOffer };
}

async function waitForCallback(
  services: Services,
  latest: AttemptRow,
  { live, offer }: ResolvedOffer,
): Promise<SubmitResult> {
  await markOutcomeUnknown(services.db, latest);
  const { callbackUrl } = createProviderContext(services, live, latest);
  // A provider that never calls back is not waited for: nothing would ever tell.
  const callbackGraceSeconds = live.provider.parseCallback && callbackUrl ? services.limits.unknownSeconds : 0;
  const left = callbackGraceSeconds - (latest.unknown_seconds ?? 0);
  if (left > 0)
    return {
      state: "wait",
      attemptNumber: latest.attempt_number,
      delaySeconds: Math.min(left + 0.2, CALLBACK_CHECK_SECONDS),
    };
  const fault = new Fault("provider_outcome_unknown");
  const isFinal = offer.on_unknown !== "resubmit";
  await failAttempt(services.db, latest, { fault: fault.body(), isFinal: isFinal });
  services.crashPoint("given_up");
  if (isFinal) throw fault;
  return { state: "retry", attemptNumber: latest.attempt_number + 1, delaySeconds: 0 };
}
