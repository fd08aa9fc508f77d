// First step of a run: marks it as started, selects an offer for each job, and splits jobs into provider requests. If
// the dispatcher has read the plan of a run of one request, the statement that claims its attempt starts the run.

import type { Job } from "../../contract/operation.ts";
import type { Database } from "../../db/connect.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { startClaimedRun } from "../../db/runs/start-run.ts";
import { type AllowedLoras, namesCustomModels, recheckCustomModels } from "../accept/custom-models.ts";
import { processingEventId } from "../core/ids.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ProviderRegistry } from "../offers/provider-registry.ts";
import { type OfferDependencies, resolveOffer, selectOffer } from "../offers/select-offer.ts";
import { hasSources, type PlannedRequest, type RunPlan } from "../steps.ts";

/** Index of the second and further requests of a job: above any job index, so that indices never collide. */
const REQUEST_INDEX_STRIDE = 100;
const SEED_RANGE = 2 ** 32;

export type PlanDependencies = Pick<Runtime, "crashPoint"> & {
  database: Database;
  providers: ProviderRegistry;
  loras: AllowedLoras;
};

/** Returns null if the run has ended or a later epoch has claimed it. `plan`: that of a run that has not started. */
export async function planRequests(
  services: PlanDependencies,
  claim: RunClaim,
  plan: Job[] = [],
): Promise<RunPlan | null> {
  const onlyRequest = planOnlyRequest(services, plan);
  if (onlyRequest) {
    services.crashPoint("begun");
    return { requests: [onlyRequest] };
  }
  const startedRun = await startClaimedRun(services.database, claim, processingEventId(claim));
  if (!startedRun) return null;
  services.crashPoint("begun");
  await recheckCustomModels(services, startedRun);
  const requests = startedRun.plan.flatMap((job, jobIndex) =>
    splitIntoRequests(services, job).map((part, index): PlannedRequest => {
      const requestIndex = jobIndex + REQUEST_INDEX_STRIDE * index;
      const earlierOutput = startedRun.earlier_outputs[requestIndex];
      if (!earlierOutput) return { requestIndex, jobIndex, ...part };
      const { provider, upstream, ...output } = earlierOutput;
      const earlierResult = { ...output, offer: { provider, upstreamModel: upstream } };
      return { requestIndex, jobIndex, ...part, earlierResult };
    }),
  );
  return { requests };
}

/** Undefined if the run has several requests, or if something must be read first. */
function planOnlyRequest(services: OfferDependencies, [job, ...others]: Job[]): PlannedRequest | undefined {
  if (!job || others.length > 0 || job.request_count !== undefined || hasSources(job) || namesCustomModels(job))
    return undefined;
  try {
    const [part, ...otherParts] = splitIntoRequests(services, job);
    return otherParts.length > 0 ? undefined : { requestIndex: 0, jobIndex: 0, ...part!, startsRun: true };
  } catch {
    // No offer: the run fails after its start, like any other.
    return undefined;
  }
}

/**
 * Splits a job that wants more results than its offer returns per request; each request then has its own seed. A job
 * for each file of an earlier one has a request per file.
 */
function splitIntoRequests(
  services: OfferDependencies,
  { request_count, ...job }: Job,
): Pick<PlannedRequest, "job" | "offer" | "sourceSlot">[] {
  const offer = selectOffer(services, job);
  if (request_count !== undefined)
    return Array.from({ length: request_count }, (_, sourceSlot) => ({ job, offer, sourceSlot }));
  return splitJob(job, resolveOffer(services, offer, job).offer.limits?.count).map((part) => ({ job: part, offer }));
}

export function splitJob<S>(job: Job<S>, maxPerRequest = job.count ?? 1): Job<S>[] {
  const count = job.count ?? 1;
  if (count <= maxPerRequest) return [job];
  return Array.from({ length: Math.ceil(count / maxPerRequest) }, (_, index) => ({
    ...job,
    count: Math.min(maxPerRequest, count - index * maxPerRequest),
    ...(job.seed !== undefined && { seed: (job.seed + index * maxPerRequest) % SEED_RANGE }),
  }));
}
