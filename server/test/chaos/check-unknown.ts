// Bounds unknown outcomes: a run may only end with provider_outcome_unknown if the vendor lost the response, or if a
// fault was injected while the request was under way. A callback that Gesso accepted in time brings the job back.
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import type { FaultLog } from "./fault-log.ts";
import type { VendorJobRecord } from "./vendor-jobs.ts";

/** A run whose outcome is unknown, with the times of its last attempt in milliseconds. */
type UnknownOutcome = { run_id: string; provider: string; claimed_ms: number; finished_ms: number };

/** How long a submission may be under way: the timeout of a request. */
const REQUEST_MS = 8000;
/** How long a process may take from its claim to the request, and from the response to its record. */
const STEP_MS = 2000;
/** `UNKNOWN_SECONDS` of the campaigns with callbacks: how long Gesso waits for one after a response was lost. */
export const CALLBACK_WAIT_SECONDS = 25;
/** A callback that arrives together with the end of the wait may come too late. */
const CALLBACK_MARGIN_MS = 2000;

export async function checkUnknownOutcomes(
  environment: TestEnvironment,
  jobs: VendorJobRecord[],
  faults: FaultLog,
): Promise<CheckResult[]> {
  const outcomes = await environment.query<UnknownOutcome>(
    `select distinct on (runs.run_id) runs.run_id, attempts.provider,
       (extract(epoch from attempts.created_at) * 1000)::float as claimed_ms,
       (extract(epoch from coalesce(attempts.finished_at, runs.finished_at)) * 1000)::float as finished_ms
     from runs join attempts using (run_id) where runs.error->>'code' = 'provider_outcome_unknown'
     order by runs.run_id, attempts.created_at desc`,
  );
  const jobsOf = Map.groupBy(jobs, (job) => job.run_id);
  const unexplained = outcomes.filter((outcome) => !isExplained(outcome, jobsOf.get(outcome.run_id) ?? [], faults));
  const ignored = outcomes.filter((outcome) =>
    jobsOf.get(outcome.run_id)?.some((job) => isCalledBackInTime(job, outcome)),
  );
  const count = (provider: string) => outcomes.filter((outcome) => outcome.provider === provider).length;
  const counts = [...new Set(outcomes.map(({ provider }) => provider))].map((id) => `${id} ${count(id)}`).join(", ");
  const ids = (runs: UnknownOutcome[]) => JSON.stringify(runs.slice(0, 3).map(({ run_id }) => run_id));
  return [
    {
      invariant: "an outcome is unknown only if the vendor lost the response or a fault hit the request",
      passed: unexplained.length === 0,
      observed: `${counts || "0"} unknown, ${unexplained.length} unexplained ${unexplained
        .slice(0, 3)
        .map((outcome) => describe(outcome, jobsOf.get(outcome.run_id) ?? []))
        .join("; ")}`,
    },
    {
      invariant: "no outcome is unknown whose callback Gesso accepted in time",
      passed: ignored.length === 0,
      observed: `${ignored.length} ${ids(ignored)}`,
    },
  ];
}

/** What is known about an outcome that nothing explains: when its request began and ended here and at the vendor. */
function describe({ run_id, provider, claimed_ms, finished_ms }: UnknownOutcome, jobs: VendorJobRecord[]): string {
  const seconds = (ms: number) => ((ms - claimed_ms) / 1000).toFixed(1);
  const there = jobs.map(({ status, underWay }) =>
    underWay ? `${status} from ${seconds(underWay.from)} to ${seconds(underWay.to)} s` : status,
  );
  const claimed = new Date(claimed_ms).toISOString();
  return `${run_id} at ${provider}, claimed ${claimed}, ended after ${seconds(finished_ms)} s, jobs: ${there.join(", ") || "none"}`;
}

function isExplained({ claimed_ms }: UnknownOutcome, jobs: VendorJobRecord[], faults: FaultLog): boolean {
  if (jobs.length === 0) return faults.canLoseResponse(claimed_ms - STEP_MS, claimed_ms + STEP_MS);
  return jobs.some(({ isResponseLost, underWay = { from: claimed_ms, to: claimed_ms + REQUEST_MS } }) => {
    return isResponseLost || faults.canLoseResponse(underWay.from - STEP_MS, underWay.to + STEP_MS);
  });
}

/** Before the run gave up, or before it was allowed to: the wait begins after the claim. */
const isCalledBackInTime = ({ callbackTakenAt }: VendorJobRecord, { claimed_ms, finished_ms }: UnknownOutcome) =>
  callbackTakenAt !== undefined &&
  callbackTakenAt < Math.max(finished_ms, claimed_ms + CALLBACK_WAIT_SECONDS * 1000) - CALLBACK_MARGIN_MS;
