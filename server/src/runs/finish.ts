// Ends a run: status, event and settlement in one statement, if the claim still holds. A second call changes nothing.
import { endRun, type RunClaim } from "../db/runs/open-runs.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import { calculateRunCost } from "./cost.ts";
import type { RunOutcome } from "./execute.ts";
import { deriveId } from "./ids.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

export async function finishRun(services: Services, claim: RunClaim, outcome: RunOutcome): Promise<void> {
  services.crashPoint("finishing");
  const last = outcome.status === "completed" ? outcome.finishedRequests.at(-1) : undefined;
  const ended = await endRun(
    services.db,
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
  if (ended) services.ended.notify(claim.run_id);
}

/** What whoever stood in had to change. What the first choice changes was told when the run was accepted. */
function failoverAdjustments(services: Services, outcome: CompletedOutcome): string[] {
  const says = outcome.finishedRequests.flatMap(({ job, offer }) => {
    try {
      return offer.upstreamModel === selectOffer(services, job).upstreamModel
        ? []
        : adjustParameters(job, resolveOffer(services, offer, job).offer).changes;
    } catch {
      // Its offers were taken out of the catalogue meanwhile: what has been made is made all the same.
      return [];
    }
  });
  return [...new Set(says.map((change) => change.message))];
}

type CompletedOutcome = Extract<RunOutcome, { status: "completed" }>;

/** The run is said to be of the provider that made it, not of our own finishing touch. */
const producingProvider = (outcome: CompletedOutcome) =>
  outcome.finishedRequests.find(({ offer }) => offer.provider !== "local")?.offer.provider;
