// Resolves an attempt whose outcome is unknown. Depending on `recovery`, it resends with the same idempotency key,
// looks the job up at the provider, or waits for its callback. It never submits again while the first request may have
// been accepted, unless the operator set on_unknown to `resubmit`.

import { isTenantSuspended } from "../../db/access/suspension.ts";
import {
  type AttemptRow,
  failAttempt,
  findLatestAttempt,
  findRequestOutput,
  markOutcomeUnknown,
  takeOverAttempt,
} from "../../db/attempts/attempts.ts";
import { releaseRequest } from "../../db/attempts/open-requests.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { renewClaim } from "../../db/runs/open-runs.ts";
import { Fault, toFault } from "../../faults/faults.ts";
import type { SelectedOffer, Ticket } from "../../providers/provider.ts";
import { toAttemptRef } from "../core/ids.ts";
import { type ResolvedOffer, resolveOffer } from "../offers/select-offer.ts";
import type { ResolvedRequest, SubmitResult } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import { leaseSeconds } from "./attempt-lease.ts";
import { saveSpooledResponse } from "./save-response.ts";
import { findFailoverOffer, sendToProvider } from "./send-to-provider.ts";

/** How often to look for a callback that arrived without waking the run. */
const CALLBACK_CHECK_SECONDS = 15;
const LOOKUP_RETRY_SECONDS = 5;
/** How often to look whether the process that sent the request has saved its response. */
const OWNER_CHECK_SECONDS = 5;

export async function resolveUnknownOutcome(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
): Promise<SubmitResult> {
  const latest = await findLatestAttempt(services.database, claim.run_id, request.requestIndex);
  if (!latest) throw new Fault("internal_error", {}, { cause: "the claimed attempt does not exist" });
  const attemptNumber = latest.attempt_number;
  // Ask the provider that got this attempt; the offer selected for the next attempt may be another one.
  const originalOffer = { provider: latest.provider, upstreamModel: latest.upstream ?? request.offer.upstreamModel };
  const originalRequest = { ...request, offer: originalOffer };
  if (latest.state === "succeeded") return returnStoredOutput(services, claim, originalRequest);
  if (latest.ticket) return adoptTicket(services, latest, latest.ticket as Ticket, originalOffer);
  if (latest.is_final) throw new Fault(latest.fault!.code, latest.fault!.details);
  if (latest.state === "failed") return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: 0 };
  if (latest.lease_seconds > 0) return { state: "wait", attemptNumber, delaySeconds: latest.lease_seconds + 0.5 };
  // Its lease expired while PostgreSQL was away, or its claim was lost. It still saves the response, which is paid for.
  const waitForOwner: SubmitResult = { state: "wait", attemptNumber, delaySeconds: OWNER_CHECK_SECONDS };
  if (await services.inFlight.isOwned(refOf(latest))) return waitForOwner;
  const spooled = await services.spool.read(refOf(latest));
  if (spooled) return saveSpooledResponse(services, claim, refOf(latest), { spooled });
  // A process on another machine may own the attempt and be about to renew its lease.
  if (latest.spool_id !== null && !services.steadiness.isSteady()) return waitForOwner;

  const resolvedOffer = resolveOffer(services, originalOffer, request.job);
  const { recovery } = resolvedOffer.offer;
  if (recovery === "replay" || recovery === "free") return resendAttempt(services, claim, originalRequest, latest);
  if (recovery === "find") return findJobAtProvider(services, claim, originalRequest, latest);
  return waitForCallback(services, latest, resolvedOffer);
}

const refOf = ({ run_id, request_index, attempt_number }: AttemptRow) =>
  toAttemptRef(run_id, request_index, attempt_number);

async function adoptTicket(
  { database }: AttemptDependencies,
  latest: AttemptRow,
  ticket: Ticket,
  offer: SelectedOffer,
): Promise<SubmitResult> {
  await saveTicket(database, refOf(latest), { ticket }, 1);
  return { state: "running", attemptNumber: latest.attempt_number, offer };
}

/** The attempt stored its result, and the process crashed before the engine had journalled the step. */
async function returnStoredOutput(
  { database }: AttemptDependencies,
  claim: RunClaim,
  { requestIndex, offer }: ResolvedRequest,
): Promise<SubmitResult> {
  const output = await findRequestOutput(database, claim, requestIndex);
  // Claiming the attempt again has opened the request again.
  if (output) await releaseRequest(database, claim, requestIndex);
  return output ? { state: "produced", ...output, warnings: [], offer } : { state: "claim_lost" };
}

async function resendAttempt(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const leased = { ...refOf(latest), leaseToken: services.ids.next(), leasedAt: services.clock.monotonic() };
  const lease = { seconds: leaseSeconds(services), leaseToken: leased.leaseToken, spoolId: services.spool.id() };
  const isTakenOver = await takeOverAttempt(services.database, refOf(latest), claim, lease);
  if (!isTakenOver) return { state: "wait", attemptNumber: latest.attempt_number, delaySeconds: 1 };
  // With `replay`, the provider may have accepted the first request, so a failure of this one says nothing about the
  // job.
  const mayBeAccepted = resolveOffer(services, request.offer, request.job).offer.recovery === "replay";
  const result = await sendToProvider(services, claim, request, { ...leased, mayBeAccepted });
  // The run continues with the offer that has the job, which may differ from the offer selected for this submission.
  return result.state === "running" || result.state === "produced" ? { ...result, offer: request.offer } : result;
}

async function findJobAtProvider(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const { database, providers, settings, log } = services;
  const resolvedOffer = resolveOffer(services, request.offer, request.job);
  const { enabledProvider } = resolvedOffer;
  const lookup = await enabledProvider.provider.findJob!(providers.createContext(enabledProvider, latest)).then(
    (ticket) => ({ ticket }),
    (thrown) => ({ fault: toFault(thrown) }),
  );
  if ("fault" in lookup) {
    // provider_outcome_unknown: the provider cannot tell, so only a callback can. Any other failure is retried.
    const isUnknowable = lookup.fault.code === "provider_outcome_unknown";
    if (isUnknowable) return waitForCallback(services, latest, resolvedOffer);
    log.warn({ run_id: claim.run_id, err: lookup.fault.cause }, "looking up a job at the provider failed");
    return retryLookup(services, claim, latest);
  }
  if (lookup.ticket) return adoptTicket(services, latest, lookup.ticket, request.offer);
  const grace = settings.timeouts.lookupGraceSeconds;
  if (latest.unknown_seconds !== null && latest.unknown_seconds >= grace)
    return resubmitOrFailOver(services, claim, request, latest);
  await markOutcomeUnknown(database, latest);
  return {
    state: "wait",
    attemptNumber: latest.attempt_number,
    delaySeconds: grace - (latest.unknown_seconds ?? 0) + 0.2,
  };
}

/** The provider is unavailable. The lookup is repeated until the deadline of the run. */
async function retryLookup(
  { database }: AttemptDependencies,
  claim: RunClaim,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const remainingSeconds = await renewClaim(database, claim);
  if (remainingSeconds === undefined) return { state: "claim_lost" };
  if (remainingSeconds > 0)
    return { state: "wait", attemptNumber: latest.attempt_number, delaySeconds: LOOKUP_RETRY_SECONDS };
  await markOutcomeUnknown(database, latest);
  throw new Fault("provider_outcome_unknown");
}

/**
 * The provider does not know the job. While its circuit breaker is open, an equivalent offer may take the job. For a
 * suspended tenant the attempt ends, and the next one waits until the tenant is active.
 */
async function resubmitOrFailOver(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  latest: AttemptRow,
): Promise<SubmitResult> {
  const isCircuitOpen = services.providers.circuitBreaker.openForSeconds(request.offer) > 0;
  const failoverOffer = isCircuitOpen ? await findFailoverOffer(services, request, latest) : undefined;
  if (!failoverOffer && !(await isTenantSuspended(services.database, claim.tenant_id)))
    return resendAttempt(services, claim, request, latest);
  await failAttempt(services.database, latest, { fault: new Fault("provider_error").body(), isFinal: false });
  const next = { attemptNumber: latest.attempt_number + 1, delaySeconds: 0 };
  return { state: "retry", ...next, ...(failoverOffer && { offer: failoverOffer }) };
}

async function waitForCallback(
  { database, providers, settings, spool, crashPoint }: AttemptDependencies,
  latest: AttemptRow,
  { enabledProvider, offer }: ResolvedOffer,
): Promise<SubmitResult> {
  await markOutcomeUnknown(database, latest);
  const { callbackUrl } = providers.createContext(enabledProvider, latest);
  // Without callbacks only the spool of the worker that sent the request can tell the outcome. That worker recovers it
  // when it is back. If its spool is ours, the response is not there and there is nothing to wait for.
  const { provider, env } = enabledProvider;
  const hasCallback = provider.parseCallback && (provider.callsBack?.(env, offer) ?? true) && callbackUrl;
  const isInOtherSpool = latest.spool_id !== null && latest.spool_id !== spool.id();
  const remainingSeconds =
    (hasCallback || isInOtherSpool ? settings.timeouts.unknownSeconds : 0) - (latest.unknown_seconds ?? 0);
  if (remainingSeconds > 0) {
    const delaySeconds = Math.min(remainingSeconds + 0.2, CALLBACK_CHECK_SECONDS);
    return { state: "wait", attemptNumber: latest.attempt_number, delaySeconds };
  }
  const fault = new Fault("provider_outcome_unknown");
  const isFinal = offer.on_unknown !== "resubmit";
  await failAttempt(database, latest, { fault: fault.body(), isFinal });
  crashPoint("given_up");
  if (isFinal) throw fault;
  return { state: "retry", attemptNumber: latest.attempt_number + 1, delaySeconds: 0 };
}
