// Ends a run: status, event and settlement in one statement, if the claim still holds. A second call changes nothing.
import { endRun, type RunClaim } from "../db/runs/open-runs.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import { calculateRunCost } from "./cost.ts";
import type { RunOutcome } from "./execute.ts";
import { deriveId } from "./ids.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

type Dependencies = Pick<Services, "database" | "providers" | "notifications" | "crashPoint">;

export async function finishRun(services: Dependencies, claim: RunClaim, outcome: RunOutcome): Promise<void> {
  services.crashPoint("finishing");
  const last = outcome.status === "completed" ? outcome.finishedRequests.at(-1) : undefined;
  const hasEnded = await endRun(
    services.database,
    claim,
    outcome.status === "completed"
      ? {
          ...outcome,
          provider: producingProvider(outcome) ?? last!.offer.provider,
          cost: calculateRunCost(services, outcome.finishedRequests),
          warnings: [...outcome.warnings, ...failoverAdjustments(services, outcome)],
        }
      : outcome,
    deriveId(claim.run_id, "end"),
  );
  services.crashPoint("finished");
  if (hasEnded) services.notifications.runEnded(claim.run_id);
}

type CompletedOutcome = Extract<RunOutcome, { status: "completed" }>;

/**
 * Parameter adjustments of failover offers. Those of the offer selected first were reported when the run was accepted.
 */
function failoverAdjustments(services: Pick<Services, "providers">, outcome: CompletedOutcome): string[] {
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
