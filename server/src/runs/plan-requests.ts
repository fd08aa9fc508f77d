// The first step: the run is under way, and it is decided who does its jobs, and in how many requests.
import { type RunClaim, startClaimedRun } from "../db/runs/open-runs.ts";
import type { Job } from "../kit/operation.ts";
import { checkModels } from "./custom-models.ts";
import type { RunPlan } from "./execute.ts";
import { deriveId } from "./ids.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

/** Null when the run has ended meanwhile or belongs to a later epoch. */
export async function planRequests(services: Services, claim: RunClaim): Promise<RunPlan | null> {
  const startedRun = await startClaimedRun(services.db, claim, deriveId(claim.run_id, "run.processing"));
  if (!startedRun) return null;
  services.crashPoint("begun");
  await checkModels(services, startedRun);
  const jobs = startedRun.plan.flatMap((job, planned) =>
    splitIntoRequests(services, job).map(({ part, choice }, index) => {
      const n = planned + REQUEST_INDEX_STRIDE * index;
      const earlierOutput = startedRun.made[n];
      if (!earlierOutput) return { n, planned, job: part, choice };
      const { provider, upstream, ...made } = earlierOutput;
      return { n, planned, job: part, choice, made: { ...made, choice: { provider, as: upstream } } };
    }),
  );
  return { jobs };
}

/** Index of the second and further requests of a job: above any job index, so that indices never collide. */
const REQUEST_INDEX_STRIDE = 100;

/** One request makes only so many results; each part has a seed of its own, or all would be the same picture. */
function splitIntoRequests(services: Services, job: Job) {
  const choice = selectOffer(services, job);
  const count = job.count ?? 1;
  const maxPerRequest = resolveOffer(services, choice, job).offer.limits?.count ?? count;
  if (count <= maxPerRequest) return [{ part: job, choice }];
  return Array.from({ length: Math.ceil(count / maxPerRequest) }, (_, index) => ({
    part: {
      ...job,
      count: Math.min(maxPerRequest, count - index * maxPerRequest),
      ...(job.seed !== undefined && { seed: (job.seed + index * maxPerRequest) % SEED_RANGE }),
    },
    choice,
  }));
}

const SEED_RANGE = 2 ** 32;
