// Saves what a provider responded to a submission: the ticket of a job, or its results. The response is paid for, so it
// is saved before anything else and retried while PostgreSQL or storage is unavailable. A response that cannot be
// requested again is also in the spool, where it survives this process.

import { releaseAttemptLease, takeOverAttempt } from "../../db/attempts/attempts.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault, isTransient } from "../../faults/faults.ts";
import type { JobDone, JobProgress, Recovery } from "../../providers/provider.ts";
import { backoffMs, retry } from "../../runtime/retry.ts";
import type { HeldLease } from "../offers/provider-context.ts";
import { type EnabledProvider, findEnabledProvider } from "../offers/provider-registry.ts";
import type { CompleteRun } from "../outputs/store-outputs.ts";
import type { SubmitResult } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import { type LeasedAttempt, leaseSeconds, withLease } from "./attempt-lease.ts";
import { checkHeld, type HeldState, isTooLarge, retryDelayMs } from "./hold-until-stored.ts";
import type { SpooledResponse } from "./response-spool.ts";

const FIRST_POLL_SECONDS = 2;
const RETRIES = { firstMs: 250, maxMs: 2000 };

/** `retrySeconds`: how long to retry. Default: the deadline of runs, after which the response is of no use. */
type SaveOptions = { claim: RunClaim; lease: HeldLease; retrySeconds?: number | undefined };

export type SentRequest = {
  attempt: LeasedAttempt;
  enabledProvider: EnabledProvider;
  spooled: SpooledResponse;
  /** Whether the response can be requested again without a second charge. */
  recovery: Recovery;
  complete?: CompleteRun | undefined;
};

export async function saveResponse(
  services: AttemptDependencies,
  sent: SentRequest,
  options: SaveOptions,
): Promise<SubmitResult> {
  const { response } = sent.spooled;
  return response.state === "running"
    ? saveJobTicket(services, sent, response, options)
    : storeResults(services, sent, response, options);
}

async function saveJobTicket(
  services: AttemptDependencies,
  sent: SentRequest,
  { ticket }: Extract<JobProgress, { state: "running" }>,
  options: SaveOptions,
): Promise<SubmitResult> {
  const { attempt, enabledProvider, spooled } = sent;
  const pollSeconds = enabledProvider.provider.pollSeconds ?? FIRST_POLL_SECONDS;
  const save = () => saveTicket(services.database, attempt, { ticket, request: spooled.request }, pollSeconds);
  await save().catch(async (thrown) => {
    if (!isTransient(thrown)) throw thrown;
    // Most tickets are saved at once, so only one that is not needs the disk.
    await spoolResponse(services, sent);
    await retryUntilSaved(services, attempt, options, save);
    await removeSpooled(services, sent);
  });
  return { state: "running", attemptNumber: attempt.attempt_number, ticket };
}

async function storeResults(
  services: AttemptDependencies,
  sent: SentRequest,
  response: JobDone,
  options: SaveOptions,
): Promise<SubmitResult> {
  const { attempt, enabledProvider, spooled, recovery } = sent;
  const { attempt_number: attemptNumber, request_index: requestIndex } = attempt;
  if (recovery !== "free" && recovery !== "replay") await spoolResponse(services, sent);
  services.crashPoint("response_spooled");
  const { count, task, request } = spooled;
  const job = { ...spooled.job, count, task };
  const producing = { requestIndex, attemptNumber, job, request, complete: sent.complete };
  const stored = await retryUntilSaved(services, attempt, options, async () => {
    if (options.lease.isLost) return undefined;
    return services.jobFiles.storeOutputs(options.claim, producing, enabledProvider, response).catch((thrown) => {
      if (thrown instanceof Fault && thrown.code === "storage_failed") return endAtDeadline(services, options, thrown);
      throw thrown;
    });
  });
  // The next submit finds out whether the run has ended or another process has stored the results.
  if (!stored) return { state: "wait", attemptNumber, delaySeconds: 1 };
  if (stored.state === "produced" || stored.state === "finished") await removeSpooled(services, sent);
  // A later invocation of the run takes the response from the spool, and need not wait for the lease.
  else await releaseAttemptLease(services.database, attempt).catch(() => {});
  return stored;
}

/** Throws the fault while the run has time left, so that storing is repeated. */
async function endAtDeadline(services: AttemptDependencies, { claim }: SaveOptions, fault: Fault): Promise<HeldState> {
  const held = await checkHeld(services, claim, fault);
  // A cancellation is noticed by the next step, as ever.
  if ("state" in held && held.state !== "canceled") return held;
  throw fault;
}

/** Without a spool, the response is still in memory, so a failure is only logged. */
async function spoolResponse({ spool, log }: AttemptDependencies, { attempt, spooled }: SentRequest): Promise<void> {
  await spool
    .write(attempt, spooled)
    .catch((thrown) => log.error({ run_id: attempt.run_id, err: thrown }, "a paid response could not be spooled"));
}

/** A file that stays is removed by the recovery of the spool, because its attempt has ended. */
const removeSpooled = ({ spool }: AttemptDependencies, { attempt }: SentRequest) =>
  spool.remove(attempt).catch(() => {});

async function retryUntilSaved<T>(
  { clock, settings, log }: AttemptDependencies,
  attempt: LeasedAttempt,
  { retrySeconds = settings.timeouts.deadlineSeconds }: SaveOptions,
  save: () => Promise<T>,
): Promise<T> {
  const giveUpAt = clock.monotonic() + retrySeconds * 1000;
  return retry(save, {
    clock,
    while: (thrown) => isTransient(thrown) && clock.monotonic() < giveUpAt,
    delayMs(thrown, failures) {
      log.warn({ run_id: attempt.run_id, err: thrown }, "saving a paid response failed; it is retried");
      return isTooLarge(thrown) ? retryDelayMs(thrown, failures) : backoffMs(RETRIES, failures);
    },
  });
}

/** Saves a response that an earlier process left in the spool, if no other process holds the lease of the attempt. */
export async function saveSpooledResponse(
  services: AttemptDependencies,
  claim: RunClaim,
  attempt: LeasedAttempt,
  { spooled, retrySeconds }: { spooled: SpooledResponse; retrySeconds?: number },
): Promise<SubmitResult> {
  const { database, clock, ids, spool, log } = services;
  const leased = { ...attempt, leaseToken: ids.next(), leasedAt: clock.monotonic() };
  const lease = { seconds: leaseSeconds(services), leaseToken: leased.leaseToken, spoolId: spool.id() };
  if (!(await takeOverAttempt(database, attempt, claim, lease)))
    return { state: "wait", attemptNumber: attempt.attempt_number, delaySeconds: 1 };
  const enabledProvider = findEnabledProvider(services, spooled.offer.provider);
  if (!enabledProvider) throw new Fault("model_unavailable");
  log.warn(
    { run_id: attempt.run_id, provider: spooled.offer.provider },
    "a paid response was recovered from the spool",
  );
  const sent: SentRequest = { attempt: leased, enabledProvider, spooled, recovery: "none" };
  const result = await services.inFlight.track(attempt, () =>
    withLease(services, claim, leased, (held) => saveResponse(services, sent, { claim, lease: held, retrySeconds })),
  );
  return result.state === "running" || result.state === "produced" ? { ...result, offer: spooled.offer } : result;
}
