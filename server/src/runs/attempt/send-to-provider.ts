// Sends one request to a provider under an attempt lease that the caller holds. The response is saved before anything
// else happens, so that a crash after the response does not lose the paid job.

import type { JsonObject } from "../../contract/schemas/run.ts";
import { type AttemptRef, expireAttemptLease, failAttempt, listAttemptedOffers } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { type Fault, toFault } from "../../faults/faults.ts";
import { adjustParameters } from "../../providers/adjust-parameters.ts";
import { type ProviderFailureKind, readProviderFailure } from "../../providers/call-provider.ts";
import type { SelectedOffer } from "../../providers/provider.ts";
import { describeSubmission } from "../core/run-spans.ts";
import { type HeldLease, LEASE_EXPIRED } from "../offers/provider-context.ts";
import { listFailoverOffers, listOffersAboveLimit, resolveOffer, toSelectedOffer } from "../offers/select-offer.ts";
import { completionOf } from "../outputs/finish.ts";
import type { ResolvedRequest, SubmitResult } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import { type LeasedAttempt, withLease } from "./attempt-lease.ts";
import { recordRequests } from "./record-request.ts";
import { saveResponse } from "./save-response.ts";

const MAX_UNSENT_ATTEMPTS = 3;
const MAX_RETRY_DELAY_SECONDS = 30;
const RESEND_SECONDS = 2;
/** A request that has taken this share of its time counts as a failure of its offer until it is answered. */
const STUCK_SHARE = 0.75;

/**
 * `mayBeAccepted`: an earlier request with the same key may have been accepted, so the attempt number must not change.
 */
export type AttemptToSend = LeasedAttempt & { mayBeAccepted?: boolean };

export const sendToProvider = (
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  attempt: AttemptToSend,
): Promise<SubmitResult> =>
  services.inFlight.track(attempt, () =>
    withLease(services, claim, attempt, (lease) => sendUnderLease(services, request, attempt, { claim, lease })),
  );

async function sendUnderLease(
  services: AttemptDependencies,
  request: ResolvedRequest,
  attempt: AttemptToSend,
  held: { claim: RunClaim; lease: HeldLease },
): Promise<SubmitResult> {
  const { providers, jobFiles, log } = services;
  const { enabledProvider, offer } = resolveOffer(services, request.offer, request.job);
  const { synchronousSeconds, recovery } = offer;
  const context = providers.createContext(enabledProvider, attempt, { synchronousSeconds, lease: held.lease });
  const recorder = recordRequests(context, { isOfAnyModel: request.job.task === "model.run" });
  const stuck = watchStuckRequest(services, request, context.timeoutSeconds);
  const { job } = adjustParameters(jobFiles.open(request.job), offer);
  // The request may use another name, such as the provider's own. Adapters know the names of their offers.
  const response = await services.tracing
    .inSpan(describeSubmission(request), () =>
      enabledProvider.provider.submit({ ...job, model: offer.model }, offer, recorder.context),
    )
    .catch((thrown: unknown) => ({ thrown }));
  const wasStuck = stuck.stop();
  services.crashPoint("answer_read");
  const sentRequest = recorder.request();
  if ("thrown" in response)
    return handleSubmitFailure(services, request, attempt, { thrown: response.thrown, sentRequest, wasStuck });

  const { count, task, model, prompt, images, mask, masks, model_run } = request.job;
  const provenJob = { model, prompt, images, mask, masks, ...(model_run && { model_run }) };
  const spooled = { response, offer: request.offer, count, task, job: provenJob, request: sentRequest };
  try {
    const complete = completionOf(services, held.claim, request);
    return await saveResponse(services, { attempt, enabledProvider, spooled, recovery, complete }, held);
  } finally {
    await providers.circuitBreaker
      .recordSuccess(request.offer)
      .catch((thrown) => log.warn({ err: thrown }, "recording the success of an offer failed"));
  }
}

/**
 * Requests that a provider never answers would be noticed only when their time is over, which is minutes for a
 * synchronous offer: until then every run of the offer would be sent there. `stop` returns whether this one counts.
 */
function watchStuckRequest(services: AttemptDependencies, { offer }: ResolvedRequest, timeoutSeconds: number) {
  const { clock, providers, log } = services;
  let isStuck = false;
  const timer = clock.after(timeoutSeconds * STUCK_SHARE * 1000, () => {
    isStuck = true;
    providers.circuitBreaker
      .recordFailure(offer)
      .catch((thrown) => log.warn({ err: thrown }, "recording a request that is stuck failed"));
  });
  return {
    stop: () => {
      timer.stop();
      return isStuck;
    },
  };
}

/** `sentRequest` is undefined if nothing was sent. `wasStuck`: the request was counted as a failure while it waited. */
type SubmitFailure = { thrown: unknown; sentRequest: JsonObject | undefined; wasStuck: boolean };

/** An upload may have been sent before a submission that was not. It is not the request of the attempt. */
const submissionOf = (kind: ProviderFailureKind, sentRequest: JsonObject | undefined) =>
  kind === "unsent" ? undefined : sentRequest;

async function handleSubmitFailure(
  services: AttemptDependencies,
  request: ResolvedRequest,
  attempt: AttemptToSend,
  { thrown, sentRequest, wasStuck }: SubmitFailure,
): Promise<SubmitResult> {
  const { database, log } = services;
  const { circuitBreaker } = services.providers;
  const attemptNumber = attempt.attempt_number;
  const { kind, retryAfterSeconds, cause } = readProviderFailure(thrown);
  const fault = toFault(thrown);
  const isUnsent = (kind === "unknown" && sentRequest === undefined) || cause === LEASE_EXPIRED;
  if (attempt.mayBeAccepted && (isUnsent || kind === "busy" || kind === "unsent")) {
    await expireAttemptLease(database, attempt, submissionOf(kind, sentRequest));
    return { state: "wait", attemptNumber, delaySeconds: retryAfterSeconds ?? RESEND_SECONDS };
  }
  if (isUnsent) return handleUnsentFailure(services, attempt, fault);
  log.warn(
    { run_id: attempt.run_id, attempt: attemptNumber, kind, code: fault.code, err: fault.cause },
    "submission failed",
  );
  const { recovery } = resolveOffer(services, request.offer, request.job).offer;
  // Work on this machine that waits for its turn is not a failure: it is not moved to a provider that costs money.
  const isWaitingLocally = kind === "busy" && recovery === "free";
  const isProviderFailure =
    !isWaitingLocally &&
    (kind === "unknown" || kind === "busy" || kind === "unsent" || fault.code === "model_unavailable");
  if (isProviderFailure) {
    if (!wasStuck) await circuitBreaker.recordFailure(request.offer);
  } else await circuitBreaker.recordSuccess(request.offer);
  if (kind === "unknown") {
    await expireAttemptLease(database, attempt, sentRequest);
    return { state: "wait", attemptNumber, delaySeconds: 1 };
  }
  // The provider certainly did not accept the job, and not because of its content: another offer may take it.
  const listOffers = kind === "over_limit" ? listOffersAboveLimit : isProviderFailure ? listFailoverOffers : undefined;
  const failoverOffer = listOffers && (await findFailoverOffer(services, request, attempt, listOffers));
  const retry = decideRetry({ kind, failoverOffer, retryAfterSeconds, attemptNumber });
  const hasFailed = await failAttempt(database, attempt, {
    fault: fault.body(),
    request: submissionOf(kind, sentRequest),
    isFinal: !retry,
  });
  if (!hasFailed) return resolveTakenOver(attempt);
  if (!retry) throw fault;
  return { state: "retry", attemptNumber: attemptNumber + 1, ...retry };
}

/** Another process took over the lease while this one was stalled. What it did decides, not what this request got. */
const resolveTakenOver = ({ attempt_number }: AttemptToSend): SubmitResult => ({
  state: "wait",
  attemptNumber: attempt_number,
  delaySeconds: 1,
});

type RetryInput = {
  kind: ProviderFailureKind;
  failoverOffer: SelectedOffer | undefined;
  retryAfterSeconds: number | undefined;
  attemptNumber: number;
};

/** Returns undefined if the run fails with this attempt. */
function decideRetry({ kind, failoverOffer, retryAfterSeconds, attemptNumber }: RetryInput) {
  if (failoverOffer) return { delaySeconds: 0, offer: failoverOffer };
  if (kind === "busy") return { delaySeconds: retryAfterSeconds ?? 2 };
  if (kind === "unsent" && attemptNumber < MAX_UNSENT_ATTEMPTS) return { delaySeconds: 2 ** attemptNumber };
  return undefined;
}

/**
 * Building the submission failed, for example because an asset could not be read. The circuit breaker is not affected.
 */
async function handleUnsentFailure(
  { database, log }: AttemptDependencies,
  attempt: AttemptToSend,
  fault: Fault,
): Promise<SubmitResult> {
  const attemptNumber = attempt.attempt_number;
  log.warn(
    { run_id: attempt.run_id, attempt: attemptNumber, err: fault },
    "building the submission failed; nothing was sent",
  );
  if (!(await failAttempt(database, attempt, { fault: fault.body(), isFinal: false })))
    return resolveTakenOver(attempt);
  const delaySeconds = Math.min(2 ** attemptNumber, MAX_RETRY_DELAY_SECONDS);
  return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds };
}

/**
 * Finds another offer whose circuit breaker is closed and that has not had this request yet. Default: an equivalent.
 */
export async function findFailoverOffer(
  services: Pick<AttemptDependencies, "database" | "providers">,
  request: ResolvedRequest,
  attempt: AttemptRef,
  listOffers = listFailoverOffers,
): Promise<SelectedOffer | undefined> {
  const candidates = listOffers(services, request.offer, request.job).map(toSelectedOffer);
  if (candidates.length === 0) return undefined;
  const attempted = await listAttemptedOffers(services.database, attempt);
  const wasAttempted = ({ provider, upstreamModel }: SelectedOffer) =>
    attempted.some((each) => each.provider === provider && each.upstream === upstreamModel);
  return candidates.find(
    (offer) => !wasAttempted(offer) && services.providers.circuitBreaker.openForSeconds(offer) === 0,
  );
}
