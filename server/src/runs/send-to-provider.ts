// One POST to a provider under a lease that the caller holds. The ticket is stored before anything else happens.
import {
  type AttemptRef,
  expireAttemptLease,
  failAttempt,
  listAttemptedOffers,
  renewAttemptLease,
  saveTicket,
} from "../db/runs/attempts.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import { type Fault, toFault } from "../faults.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import { type ProviderFailureKind, readProviderFailure } from "../providers/call-provider.ts";
import type { SelectedOffer } from "../providers/provider.ts";
import type { ResolvedRequest, SubmitResult } from "./execute.ts";
import { createProviderContext, withReadableAssets } from "./provider-context.ts";
import { recordRequests } from "./record-request.ts";
import { listFailoverOffers, resolveOffer, toSelectedOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";
import { storeOutputs } from "./store-outputs.ts";

const LEASE_MARGIN_SECONDS = 5;
const FIRST_POLL_SECONDS = 2;
const MAX_UNSENT_ATTEMPTS = 3;
const MAX_RETRY_DELAY_SECONDS = 30;

export const leaseSeconds = (services: Services) => services.limits.submitSeconds + LEASE_MARGIN_SECONDS;

export async function sendToProvider(
  services: Services,
  claim: RunClaim,
  work: ResolvedRequest,
  id: AttemptRef,
): Promise<SubmitResult> {
  const { live, offer } = resolveOffer(services, work.offer, work.job);
  const { context, request: recordedRequest } = recordRequests(createProviderContext(services, live, id, offer));
  const { job } = adjustParameters(await withReadableAssets(services, work.job), offer);
  const submitting = live.provider.submit(job, offer, context).catch((thrown) => ({ thrown }));
  const response = await (offer.synchronousSeconds === undefined
    ? submitting
    : withLeaseRenewal(services, claim, id, submitting));
  services.crashPoint("answer_read");
  if ("thrown" in response)
    return handleSubmitFailure(services, work, id, { thrown: response.thrown, request: recordedRequest() });

  await services.circuitBreaker.recordSuccess(work.offer);
  if (response.state === "running") {
    await saveTicket(
      services.db,
      id,
      { ticket: response.ticket, request: recordedRequest() },
      live.provider.pollSeconds ?? FIRST_POLL_SECONDS,
    );
    return { state: "running", attemptNumber: id.attempt_number };
  }
  return storeOutputs(
    services,
    claim,
    { ...work, attemptNumber: id.attempt_number, request: recordedRequest() },
    live,
    response,
  );
}

/**
 * A provider that answers only with the finished result may take minutes. The attempt lease is renewed while the request is
 * in flight; if this process dies, the lease expires soon and another worker resolves the attempt.
 */
async function withLeaseRenewal<T>(
  services: Services,
  claim: RunClaim,
  id: AttemptRef,
  submitting: Promise<T>,
): Promise<T> {
  const renew = () => renewAttemptLease(services.db, claim, id, leaseSeconds(services)).catch(() => {});
  const timer = setInterval(renew, (leaseSeconds(services) / 3) * 1000);
  return submitting.finally(() => clearInterval(timer));
}

type SubmitFailure = { thrown: unknown; request: JsonObject | undefined };

async function handleSubmitFailure(
  services: Services,
  work: ResolvedRequest,
  id: AttemptRef,
  { thrown, request }: SubmitFailure,
): Promise<SubmitResult> {
  const { kind, retryAfterSeconds } = readProviderFailure(thrown);
  const fault = toFault(thrown);
  if (kind === "doubt" && request === undefined) return handleUnsentFailure(services, id, fault);
  services.log.warn({ run_id: id.run_id, try: id.attempt_number, kind, err: fault.cause }, "submission failed");
  const isProviderFailure =
    kind === "doubt" || kind === "busy" || kind === "unsent" || fault.code === "model_unavailable";
  if (isProviderFailure) await services.circuitBreaker.recordFailure(work.offer);
  else await services.circuitBreaker.recordSuccess(work.offer);
  if (kind === "doubt") {
    await expireAttemptLease(services.db, id, request);
    return { state: "wait", attemptNumber: id.attempt_number, delaySeconds: 1 };
  }
  // It was certainly not taken, and not for what it shows or asks: somebody else may be asked.
  const failoverOffer = isProviderFailure ? await findFailoverOffer(services, work, id) : undefined;
  const next = decideRetry({ kind, other: failoverOffer, retryAfterSeconds, try: id.attempt_number });
  await failAttempt(services.db, id, { fault: fault.body(), request, isFinal: !next });
  if (!next) throw fault;
  return { state: "retry", attemptNumber: id.attempt_number + 1, ...next };
}

type RetryInput = {
  kind: ProviderFailureKind;
  other: SelectedOffer | undefined;
  retryAfterSeconds: number | undefined;
  try: number;
};

/** When it is tried again, and with whom. Undefined: it is not. */
function decideRetry({ kind, other, retryAfterSeconds, try: attempt }: RetryInput) {
  if (other) return { delaySeconds: 0, offer: other };
  if (kind === "busy") return { delaySeconds: retryAfterSeconds ?? 2 };
  if (kind === "unsent" && attempt < MAX_UNSENT_ATTEMPTS) return { delaySeconds: 2 ** attempt };
  return undefined;
}

/** The submission failed before anything was sent, for example because an asset could not be read. The circuit breaker is not affected. */
async function handleUnsentFailure(services: Services, id: AttemptRef, fault: Fault): Promise<SubmitResult> {
  services.log.warn(
    { run_id: id.run_id, try: id.attempt_number, err: fault },
    "building the submission failed; nothing was sent",
  );
  await failAttempt(services.db, id, { fault: fault.body(), isFinal: false });
  return {
    state: "retry",
    attemptNumber: id.attempt_number + 1,
    delaySeconds: Math.min(2 ** id.attempt_number, MAX_RETRY_DELAY_SECONDS),
  };
}

/** Who may stand in: in order, and not asked for this job before. */
export async function findFailoverOffer(
  services: Services,
  work: ResolvedRequest,
  id: AttemptRef,
): Promise<SelectedOffer | undefined> {
  const others = listFailoverOffers(services, work.offer, work.job).map(toSelectedOffer);
  if (others.length === 0) return undefined;
  const tried = await listAttemptedOffers(services.db, id);
  const isTried = ({ provider, upstreamModel }: SelectedOffer) =>
    tried.some((each) => each.provider === provider && each.upstream === upstreamModel);
  return others.find((other) => !isTried(other) && services.circuitBreaker.openForSeconds(other) === 0);
}
