// The checks after a campaign: compares the accepted runs, PostgreSQL, the engine, the storage, the ledger and the
// vendors' own records.
import type { CheckResult } from "../support/campaign.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";
import { checkCharges } from "./check-charges.ts";
import { checkEngine } from "./check-engine.ts";
import { checkOutputs, type ReadOutput } from "./check-outputs.ts";
import { checkStorage } from "./check-storage.ts";
import { checkUnknownOutcomes } from "./check-unknown.ts";
import { type PostedRun, RECOVERY_CLASSES } from "./run-load.ts";
import { listFakeVendorJobs, listSandboxJobs, type VendorJobRecord } from "./vendor-jobs.ts";

type RunRow = {
  run_id: string;
  status: string;
  cost: unknown;
  code: string | null;
  ends: number;
  keys: number;
};

export async function checkInvariants(
  environment: ChaosEnvironment,
  posted: PostedRun[],
  expectations: { hasLostResponses?: boolean; readOutput?: ReadOutput } = {},
): Promise<CheckResult[]> {
  const runs = await environment.query<RunRow>(
    `select run_id, status, cost, error->>'code' as code,
       (select count(*)::int from events where events.run_id = runs.run_id and terminal) as ends,
       (select count(*)::int from idempotency_keys k where k.resource_id = runs.run_id) as keys
     from runs`,
  );
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const postOf = new Map(posted.map((post) => [post.run_id, post]));
  const ended = runs.filter((run) => ["completed", "failed", "canceled"].includes(run.status));
  const unposted = runs.filter((run) => !postOf.has(run.run_id));
  const missing = posted.filter((post) => !byId.has(post.run_id));
  const completed = posted.filter((post) => byId.get(post.run_id)?.status === "completed");
  const failed = runs.filter((run) => run.status !== "completed");
  const wrong = failed.filter((run) => !isAllowedEnd(run, postOf.get(run.run_id)));
  const jobs = [...(await listSandboxJobs(environment)), ...listFakeVendorJobs(environment.openai, posted)];

  return [
    finding(
      "every posted run exists, and no other",
      missing.length === 0 && unposted.length === 0,
      `${posted.length} posted, ${missing.length} missing, ${unposted.length} others`,
    ),
    finding(
      "every run has ended",
      ended.length === runs.length,
      `${ended.length} of ${runs.length} ${await describeOpenRuns(environment, posted)}`.trim(),
    ),
    finding(
      "each run has exactly one end",
      runs.every((run) => run.ends === 1),
      `${runs.filter((run) => run.ends !== 1).length} others`,
    ),
    finding(
      "each idempotency key has exactly one run",
      runs.every((run) => run.keys === 1),
      `${runs.filter((run) => run.keys !== 1).length} others`,
    ),
    finding(
      "runs complete; classes C and D may end with provider_outcome_unknown, and canceled ones as canceled",
      wrong.length === 0,
      `${completed.length} completed, ${failed.length - wrong.length} unknown or canceled, ${wrong.length} others ${JSON.stringify(wrong.slice(0, 3))}`,
    ),
    finding(
      "completed runs carry a cost, failed ones do not",
      runs.every((run) => run.status === "canceled" || (run.cost !== null) === (run.status === "completed")),
      "all as expected",
    ),
    ...checkVendorJobs(posted, byId, jobs),
    ...(await checkUnknownOutcomes(environment, jobs, environment.faults)),
    await checkOutputs(
      environment,
      completed.map(({ run_id, count }) => ({ run_id, outputCount: count })),
      jobs,
      expectations.readOutput,
    ),
    ...(await checkCharges(environment, posted, jobs)),
    ...(await checkStorage(
      environment,
      environment.storage,
      completed.map(({ run_id }) => run_id),
    )),
    await checkEngine(environment),
    ...(expectations.hasLostResponses ? [checkLostResponses(posted, jobs)] : []),
  ];
}

function isAllowedEnd({ status, code }: RunRow, post: PostedRun | undefined): boolean {
  if (!post) return false;
  if (status === "canceled") return post.isCancelRequested;
  return (post.class === "C" || post.class === "D") && code === "provider_outcome_unknown";
}

const finding = (invariant: string, passed: boolean, observed: string): CheckResult => ({
  invariant,
  passed,
  observed,
});

function checkVendorJobs(posted: PostedRun[], runs: Map<string, RunRow>, jobs: VendorJobRecord[]): CheckResult[] {
  const counts = new Map<string | undefined, number>();
  for (const { run_id } of jobs) counts.set(run_id, (counts.get(run_id) ?? 0) + 1);
  const jobCount = ({ run_id }: PostedRun) => counts.get(run_id) ?? 0;
  const twice = posted.filter((post) => jobCount(post) > post.count);
  const unpaid = posted.filter(
    (post) => runs.get(post.run_id)?.status === "completed" && jobCount(post) !== post.count,
  );
  const known = new Set(posted.map((post) => post.run_id));
  const unknownJobs = jobs.filter((job) => job.run_id === undefined || !known.has(job.run_id));
  return [
    finding(
      "no run was submitted twice",
      twice.length === 0,
      `${twice.length} twice ${JSON.stringify(twice.slice(0, 3).map((post) => [post.class, post.run_id]))}`,
    ),
    finding("every completed run has exactly one job per image", unpaid.length === 0, `${unpaid.length} others`),
    finding(
      "every job that a vendor accepted belongs to a posted run",
      unknownJobs.length === 0,
      `${unknownJobs.length} of ${jobs.length}`,
    ),
  ];
}

/** Why a run stands still can be seen only now: what the database knows about the first ones, and the engine's part. */
async function describeOpenRuns(environment: ChaosEnvironment, posted: PostedRun[]): Promise<string> {
  const rows = await environment.query<{ run_id: string }>(
    `select run_id, now() as now, to_jsonb(open_runs) as run,
       (select jsonb_agg(open_requests) from open_requests where open_requests.run_id = open_runs.run_id) as requests,
       (select jsonb_agg(to_jsonb(attempts) - 'request') from attempts where attempts.run_id = open_runs.run_id) as attempts
     from open_runs limit 3`,
  );
  const withClass = rows.map((row) => ({ ...row, class: posted.find(({ run_id }) => run_id === row.run_id)?.class }));
  return rows.length === 0 ? "" : JSON.stringify(withClass);
}

/** Fails a campaign in which no response was lost: it did not test unknown outcomes. */
function checkLostResponses(posted: PostedRun[], jobs: VendorJobRecord[]): CheckResult {
  const lost = new Set(jobs.filter((job) => job.isResponseLost).map((job) => job.run_id));
  const count = (which: string) => posted.filter((post) => post.class === which && lost.has(post.run_id)).length;
  const tested = RECOVERY_CLASSES.filter((each) => posted.some((post) => post.class === each));
  return finding(
    "responses were lost in every recovery class",
    tested.every((each) => count(each) > 0),
    `responses lost: ${tested.map((each) => `${each} ${count(each)}`).join(", ")}`,
  );
}
