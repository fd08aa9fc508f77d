// Reads how a submitted job stands; when it is done, its files become ours before anyone hears of it.
import {
  type AttemptRef,
  type AttemptRow,
  failAttempt,
  findClaimedAttempt,
  findLatestAttempt,
} from "../db/runs/attempts.ts";
import { armWake, type RunClaim } from "../db/runs/open-runs.ts";
import { Fault, toFault } from "../faults.ts";
import { readProviderFailure } from "../providers/call-provider.ts";
import type { JobProgress, Ticket } from "../providers/provider.ts";
import type { CollectResult, ResolvedRequest, WakeupRequest, WakeupResult } from "./execute.ts";
import { createProviderContext } from "./provider-context.ts";
import { resolveOffer } from "./select-offer.ts";
import type { EnabledProvider, Services } from "./services.ts";
import { storeOutputs } from "./store-outputs.ts";

export async function collectResult(
  house: Services,
  held: RunClaim,
  request: ResolvedRequest,
  attempt: { attemptNumber: number },
): Promise<CollectResult> {
  const { live } = resolveOffer(house, request.offer, request.job);
  const row = await findClaimedAttempt(house.db, held, request.requestIndex);
  if (!row) return { state: "claim_lost" };
  if (!row.ticket) throw new Fault("internal_error", {}, { cause: "a submitted attempt has no ticket" });
  const id = { run_id: held.run_id, request_index: request.requestIndex, attempt_number: attempt.attemptNumber };
  const progress = await checkProviderJob(house, live, id, row);
  if (progress.state === "gone") {
    await failAttempt(house.db, id, { fault: new Fault("provider_error").body(), isFinal: false });
    return { state: "retry", attemptNumber: id.attempt_number + 1, delaySeconds: 0 };
  }
  if (progress.state === "running") return { state: "running", attemptNumber: id.attempt_number };
  return storeOutputs(house, held, { ...request, attemptNumber: id.attempt_number }, live, progress);
}

/** Asks the provider for the state of the job. A failed request counts as `running`; only an answer of the provider ends the job. */
async function checkProviderJob(
  house: Services,
  live: EnabledProvider,
  id: AttemptRef,
  { ticket: kept, unreachable_seconds: silent_for }: AttemptRow,
): Promise<JobProgress | { state: "gone" }> {
  const ticket = kept as Ticket;
  try {
    return await live.provider.poll(
      ticket,
      createProviderContext(house, live, id, { unreachableSeconds: silent_for ?? 0 }),
    );
  } catch (thrown) {
    const { kind, status } = readProviderFailure(thrown);
    if (kind === "gone") return { state: "gone" };
    if (kind === "failed" || (kind === "refused" && status === undefined) || status === 404) {
      // The provider's own word that there will be nothing: it is not paid for, and no longer under way.
      await failAttempt(house.db, id, { fault: toFault(thrown).body(), isFinal: true });
      throw thrown;
    }
    return { state: "running", ticket };
  }
}

/** Registers a new wakeup. Throws provider_timeout, after canceling at the provider, if the deadline has passed. */
export async function registerWakeup(
  house: Services,
  held: RunClaim,
  request: ResolvedRequest,
  wakeup: WakeupRequest,
): Promise<WakeupResult> {
  const armed = await armWake(house.db, held, {
    wakeId: wakeup.wakeupId,
    seconds: wakeup.seconds,
    activity: "at_provider",
  });
  if (!armed) return { state: "claim_lost" };
  if (armed.canceled) return { state: "canceled" };
  if (armed.remaining <= 0) {
    await cancelAtProvider(house, held, request);
    throw new Fault("provider_timeout");
  }
  return { state: "registered" };
}

/** Tells the provider to stop, as well as it can be told: the run ends in any case. */
export async function cancelAtProvider(house: Services, held: RunClaim, request: ResolvedRequest): Promise<void> {
  const row = await findLatestAttempt(house.db, held.run_id, request.requestIndex);
  const live = house.providers.find(({ provider }) => provider.id === row?.provider);
  if (!row?.ticket || !live?.provider.cancel) return;
  await live.provider.cancel(row.ticket as Ticket, createProviderContext(house, live, row)).catch((thrown) => {
    house.log.warn({ run_id: held.run_id, err: thrown }, "canceling at the provider failed");
  });
}
