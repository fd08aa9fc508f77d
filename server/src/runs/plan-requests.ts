// The first step: the run is under way, and it is decided who does its jobs, and in how many requests.
import { type RunClaim, startClaimedRun } from "../db/runs/open-runs.ts";
import type { Job } from "../kit/operation.ts";
import { checkModels } from "./custom-models.ts";
import type { PlannedRequest, RunPlan } from "./execute.ts";
import { deriveId } from "./ids.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

/** Null when the run has ended meanwhile or belongs to a later epoch. */
export async function planRequests(services: Services, claim: RunClaim): Promise<RunPlan | null> {
  const startedRun = await startClaimedRun(services.db, claim, deriveId(claim.run_id, "run.processing"));
  if (!startedRun) return null;
  services.crashPoint("begun");
  await checkModels(services, startedRun);
  const requests = startedRun.plan.flatMap((job, jobIndex) =>
    splitIntoRequests(services, job).map((request, index): PlannedRequest => {
      const requestIndex = jobIndex + REQUEST_INDEX_STRIDE * index;
      const earlierOutput = startedRun.earlier_outputs[requestIndex];
      if (!earlierOutput) return { requestIndex, jobIndex, ...request };
      const { provider, upstream, ...output } = earlierOutput;
      const earlierResult = { ...output, offer: { provider, upstreamModel: upstream } };
      return { requestIndex, jobIndex, ...request, earlierResult };
    }),
  );
  return { requests };
}

/** Index of the second and further requests of a job: above any job index, so that indices never collide. */
const REQUEST_INDEX_STRIDE = 100;

/** One request makes only so many results; each part has a seed of its own, or all would be the same picture. */
function splitIntoRequests(services: Services, job: Job) {
  const offer = selectOffer(services, job);
  const count = job.count ?? 1;
  const maxPerRequest = resolveOffer(services, offer, job).offer.limits?.count ?? count;
  if (count <= maxPerRequest) return [{ job, offer }];
  return Array.from({ length: Math.ceil(count / maxPerRequest) }, (_, index) => ({
    job: {
      ...job,
      count: Math.min(maxPerRequest, count - index * maxPerRequest),
      ...(job.seed !== undefined && { seed: (job.seed + index * maxPerRequest) % SEED_RANGE }),
    },
    offer,
  }));
}

const SEED_RANGE = 2 ** 32;
