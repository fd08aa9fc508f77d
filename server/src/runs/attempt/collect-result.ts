// Reads the state of a submitted job at its provider and stores its results when it is done; registers wakeups while it
// runs, and cancels it.

import { isDeepStrictEqual } from "node:util";
import {
  type AttemptRef,
  type AttemptRow,
  failAttempt,
  findClaimedAttempt,
  findLatestAttempt,
} from "../../db/attempts/attempts.ts";
import { saveWakeup } from "../../db/attempts/open-requests.ts";
import { replaceTicket } from "../../db/attempts/tickets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault, isTransient, toFault } from "../../faults/faults.ts";
import { readProviderFailure } from "../../providers/call-provider.ts";
import type { JobProgress, Ticket } from "../../providers/provider.ts";
import { toAttemptRef } from "../core/ids.ts";
import { type EnabledProvider, findEnabledProvider } from "../offers/provider-registry.ts";
import { type ResolvedOffer, resolveOffer } from "../offers/select-offer.ts";
import { completionOf } from "../outputs/finish.ts";
import type { CollectResult, ResolvedRequest, SubmittedAttempt, WakeupRequest, WakeupResult } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import { holdUntilStored } from "./hold-until-stored.ts";

export async function collectResult(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  { attemptNumber, ticket }: SubmittedAttempt,
): Promise<CollectResult> {
  // A step that goes on after the engine has given it up may find a later attempt, which is not its own.
  const readAttempt = async () => {
    const latest = await findClaimedAttempt(services.database, claim, request.requestIndex);
    return latest?.attempt_number === attemptNumber ? latest : undefined;
  };
  // With the ticket, nothing has to be read: the statement that saves the results checks the claim.
  const job = ticket ? { ticket } : await readAttempt();
  if (!job) return { state: "claim_lost" };
  if (!job.ticket) throw new Fault("internal_error", {}, { cause: "a submitted attempt has no ticket" });
  try {
    const { requestIndex } = request;
    return await holdUntilStored(services, { claim, requestIndex }, (signal) =>
      collectJob(services, claim, request, { ...job, attemptNumber, signal }),
    );
  } catch (thrown) {
    // The engine repeats the step. Reading the attempt renews the claim meanwhile.
    if (ticket && isTransient(thrown)) await readAttempt();
    throw thrown;
  }
}

type SubmittedJob = Pick<AttemptRow, "ticket" | "unreachable_seconds" | "submitted_seconds">;

async function collectJob(
  services: AttemptDependencies,
  claim: RunClaim,
  request: ResolvedRequest,
  { attemptNumber, signal, ...job }: SubmittedJob & { attemptNumber: number; signal: AbortSignal },
): Promise<CollectResult> {
  const resolvedOffer = resolveOffer(services, request.offer, request.job);
  const { enabledProvider } = resolvedOffer;
  const attempt = toAttemptRef(claim.run_id, request.requestIndex, attemptNumber);
  const progress = await checkProviderJob(services, enabledProvider, attempt, job);
  if (progress.state === "gone") {
    if (await adoptOtherJob(services, resolvedOffer, attempt, job.ticket as Ticket))
      return { state: "running", attemptNumber };
    await failAttempt(services.database, attempt, { fault: new Fault("provider_error").body(), isFinal: false });
    return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: 0 };
  }
  if (progress.state === "running") return { state: "running", attemptNumber };
  const producing = { ...request, attemptNumber, signal, complete: completionOf(services, claim, request) };
  return services.jobFiles.storeOutputs(claim, producing, enabledProvider, progress);
}

/**
 * The ticket is that of a job that the provider has lost. If a callback brought it late, the attempt may have been sent
 * again meanwhile: the job of that request is running and paid for, and takes the place of the lost one.
 */
async function adoptOtherJob(
  { database, providers }: Pick<AttemptDependencies, "database" | "providers">,
  { enabledProvider, offer }: ResolvedOffer,
  attempt: AttemptRef,
  lost: Ticket,
): Promise<boolean> {
  if (offer.recovery !== "find") return false;
  const row = await findLatestAttempt(database, attempt.run_id, attempt.request_index);
  // An attempt that was never taken over was sent once, so the provider has no other job of it.
  if (row?.attempt_number !== attempt.attempt_number || row.send_count < 2) return false;
  const found = await enabledProvider.provider.findJob!(providers.createContext(enabledProvider, attempt)).catch(
    (thrown) => {
      // Without an answer, nothing may be submitted. The engine repeats the step.
      throw new Fault("dependency_unavailable", {}, { cause: thrown });
    },
  );
  if (!found || isDeepStrictEqual(found, lost)) return false;
  return replaceTicket(database, attempt, { lost, found });
}

/**
 * Asks the provider for the state of the job. `gone`: the provider has lost the job. A failed request counts as
 * `running`; only a response of the provider ends the job.
 */
async function checkProviderJob(
  { database, providers }: Pick<AttemptDependencies, "database" | "providers">,
  enabledProvider: EnabledProvider,
  attempt: AttemptRef,
  { ticket: storedTicket, unreachable_seconds, submitted_seconds }: SubmittedJob,
): Promise<JobProgress | { state: "gone" }> {
  const ticket = storedTicket as Ticket;
  const context = providers.createContext(enabledProvider, attempt, {
    unreachableSeconds: unreachable_seconds ?? 0,
    submittedSeconds: submitted_seconds ?? 0,
  });
  try {
    return await enabledProvider.provider.poll(ticket, context);
  } catch (thrown) {
    const { kind, status } = readProviderFailure(thrown);
    if (kind === "gone") return { state: "gone" };
    if (kind === "failed" || (kind === "refused" && status === undefined) || status === 404) {
      // The provider reports that the job produces nothing. It is not charged and no longer in progress.
      await failAttempt(database, attempt, { fault: toFault(thrown).body(), isFinal: true });
      throw thrown;
    }
    return { state: "running", ticket };
  }
}

/** Registers a new wakeup. Throws provider_timeout, after canceling at the provider, if the deadline has passed. */
export async function registerWakeup(
  services: Pick<AttemptDependencies, "database" | "providers" | "log">,
  claim: RunClaim,
  request: ResolvedRequest,
  { wakeupId, seconds }: WakeupRequest,
): Promise<WakeupResult> {
  const wakeup = { wakeupId, seconds, activity: "at_provider" as const };
  const registration = await saveWakeup(services.database, claim, request.requestIndex, wakeup);
  if (!registration) return { state: "claim_lost" };
  if (registration.canceled) return { state: "canceled" };
  if (registration.remaining <= 0) {
    const fault = new Fault("provider_timeout");
    await cancelAtProvider(services, claim, request, fault);
    throw fault;
  }
  return { state: "registered" };
}

/**
 * Asks the provider to cancel the job. A failure is only logged, because the run ends in any case. If the provider says
 * that it does not charge for the job, the attempt ends with the fault; otherwise it stays submitted and is charged.
 */
export async function cancelAtProvider(
  services: Pick<AttemptDependencies, "database" | "providers" | "log">,
  claim: RunClaim,
  request: ResolvedRequest,
  fault = new Fault("canceled_by_user"),
): Promise<void> {
  const row = await findLatestAttempt(services.database, claim.run_id, request.requestIndex);
  const enabledProvider = findEnabledProvider(services, row?.provider);
  if (!row?.ticket || !enabledProvider?.provider.cancel) return;
  const context = services.providers.createContext(enabledProvider, row);
  const { isUncharged } = await enabledProvider.provider.cancel(row.ticket as Ticket, context).catch((thrown) => {
    services.log.warn({ run_id: claim.run_id, err: thrown }, "canceling at the provider failed");
    return { isUncharged: false };
  });
  if (isUncharged) await failAttempt(services.database, row, { fault: fault.body(), isFinal: true });
}
