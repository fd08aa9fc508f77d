// Ends a run: status, event and settlement in one statement, if the claim still holds. A second call changes nothing.

import type { Job } from "../../contract/operation.ts";
import type { Database } from "../../db/connect.ts";
import { markRefusedModel } from "../../db/library/imported-models.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { type CompletedRun, endRun, saveOutputAndComplete } from "../../db/runs/end-runs.ts";
import { adjustParameters } from "../../providers/adjust-parameters.ts";
import { deriveId } from "../core/ids.ts";
import type { Notifications } from "../core/notifications.ts";
import type { Runtime } from "../core/runtime.ts";
import { calculateRunCost } from "../offers/cost.ts";
import type { ProviderRegistry } from "../offers/provider-registry.ts";
import { resolveOffer, selectOffer } from "../offers/select-offer.ts";
import type { ResolvedRequest, RunOutcome } from "../steps.ts";
import { findsObjects } from "./nothing-found.ts";
import type { CompleteRun } from "./store-outputs.ts";

type Dependencies = Pick<Runtime, "crashPoint"> & {
  database: Database;
  providers: ProviderRegistry;
  notifications: Notifications;
};

export async function finishRun(services: Dependencies, claim: RunClaim, outcome: RunOutcome): Promise<void> {
  services.crashPoint("finishing");
  const end = outcome.status === "completed" ? toCompletedRun(services, outcome) : outcome;
  const hasEnded = await endRun(services.database, claim, end, deriveId(claim.run_id, "end"));
  services.crashPoint("finished");
  if (hasEnded) services.notifications.runEnded(claim.run_id);
  const isRefused = outcome.status === "failed" && outcome.error.code === "provider_rejected_input";
  if (hasEnded && isRefused) await markRefusedModel(services.database, claim);
}

/** Undefined if the run has other requests. */
export function completionOf(
  services: Dependencies,
  claim: RunClaim,
  { isWholeRun, job, offer }: ResolvedRequest,
): CompleteRun | undefined {
  if (!isWholeRun) return undefined;
  return async (attempt, output, { files, data, usage, warnings }) => {
    if (files.length === 0 && findsObjects(job.task)) return undefined;
    const result = { outputs: files, ...(data && { data }) };
    const finishedRequests = [{ job: job as Job, offer, files, ...(usage && { usage }) }];
    const end = toCompletedRun(services, { status: "completed", result, finishedRequests, warnings });
    services.crashPoint("finishing");
    const eventId = deriveId(claim.run_id, "end");
    const hasEnded = await saveOutputAndComplete(services.database, { claim, attempt, output, end, eventId });
    services.crashPoint("finished");
    if (!hasEnded) return { state: "claim_lost" };
    services.notifications.runEnded(claim.run_id);
    return { state: "finished" };
  };
}

const toCompletedRun = (services: { providers: ProviderRegistry }, outcome: CompletedOutcome): CompletedRun => ({
  ...outcome,
  provider: producingProvider(outcome) ?? outcome.finishedRequests.at(-1)!.offer.provider,
  cost: calculateRunCost(services, outcome.finishedRequests),
  warnings: [...outcome.warnings, ...failoverAdjustments(services, outcome)],
});

type CompletedOutcome = Extract<RunOutcome, { status: "completed" }>;

/**
 * Parameter adjustments of failover offers. Those of the offer selected first were reported when the run was accepted.
 */
function failoverAdjustments(services: { providers: ProviderRegistry }, outcome: CompletedOutcome): string[] {
  const adjustments = outcome.finishedRequests.flatMap(({ job, offer }) => {
    try {
      return offer.upstreamModel === selectOffer(services, job).upstreamModel
        ? []
        : adjustParameters(job, resolveOffer(services, offer, job).offer).changes;
    } catch {
      // The offer was removed from the catalogue meanwhile. The results exist, so the run completes without the
      // warning.
      return [];
    }
  });
  return [...new Set(adjustments.map((change) => change.message))];
}

/** The provider that made the result; local post-processing and finding the mask count only if there was no other. */
const producingProvider = ({ finishedRequests }: CompletedOutcome) => {
  const remote = finishedRequests.filter(({ offer }) => offer.provider !== "local");
  return (remote.find(({ job }) => job.task !== "image.segment") ?? remote[0])?.offer.provider;
};
