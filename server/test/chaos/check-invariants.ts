// The test oracle: after a campaign, compares the accepted runs, PostgreSQL, the engine, the storage and the sandbox
// ledger, and checks every invariant.
import { createHash } from "node:crypto";
import { createDiskStorage } from "../../src/storage/disk-storage.ts";
import { readSandboxLedger } from "../support/api-caller.ts";
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { checkCharges } from "./check-charges.ts";
import type { PostedRun } from "./run-load.ts";

type RunRow = { run_id: string; status: string; cost: unknown; code: string | null; ends: number; keys: number };

export async function checkInvariants(
  environment: TestEnvironment,
  posted: PostedRun[],
  requireLostResponses: boolean,
): Promise<CheckResult[]> {
  const runs = await environment.query<RunRow>(
    `select run_id, status, cost, error->>'code' as code,
       (select count(*)::int from events where events.run_id = runs.run_id and terminal) as ends,
       (select count(*)::int from idempotency_keys k where k.resource_id = runs.run_id) as keys
     from runs where run_id = any($1::uuid[])`,
    [posted.map((post) => post.run_id)],
  );
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const ended = runs.filter((run) => ["completed", "failed", "canceled"].includes(run.status));
  const classOf = new Map(posted.map((post) => [post.run_id, post.class]));
  const failed = runs.filter((run) => run.status !== "completed");
  const wrong = failed.filter((run) => !(classOf.get(run.run_id) === "C" && run.code === "provider_outcome_unknown"));

  return [
    finding("every accepted run exists", byId.size === posted.length, `${byId.size} of ${posted.length}`),
    finding("every run has ended", ended.length === runs.length, `${ended.length} of ${runs.length}`),
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
      "runs complete; class C may fail with provider_outcome_unknown",
      wrong.length === 0,
      `${runs.length - failed.length} completed, ${failed.length - wrong.length} unknown, ${wrong.length} others ${JSON.stringify(wrong.slice(0, 3))}`,
    ),
    finding(
      "only completed runs carry a cost",
      runs.every((run) => (run.cost !== null) === (run.status === "completed")),
      "all as expected",
    ),
    ...(await checkSandboxLedger(environment, posted, byId)),
    ...(await checkCharges(environment, posted)),
    ...(await checkStorage(environment)),
    ...(await checkEngine(environment)),
    ...(requireLostResponses ? await checkLostResponses(environment, posted) : []),
  ];
}

const finding = (invariant: string, passed: boolean, observed: string): CheckResult => ({
  invariant,
  passed,
  observed,
});

async function checkSandboxLedger(
  environment: TestEnvironment,
  posted: PostedRun[],
  runs: Map<string, RunRow>,
): Promise<CheckResult[]> {
  const ledger = await readSandboxLedger(environment);
  const jobsOf = (runId: string) => ledger.filter((job) => job.reference?.startsWith(runId));
  const twice = posted.filter((post) => jobsOf(post.run_id).length > 1);
  const unpaid = posted.filter(
    (post) => runs.get(post.run_id)?.status === "completed" && jobsOf(post.run_id).length !== 1,
  );
  const known = new Set(posted.map((post) => post.run_id));
  const unknownJobs = ledger.filter((job) => job.reference && !known.has(job.reference.split(".")[0]!));
  return [
    finding(
      "no run was submitted twice",
      twice.length === 0,
      `${twice.length} twice ${JSON.stringify(twice.slice(0, 3).map((p) => [p.class, p.run_id]))}`,
    ),
    finding("every completed run has exactly one job", unpaid.length === 0, `${unpaid.length} others`),
    finding(
      "every job in the sandbox ledger belongs to a run",
      unknownJobs.length === 0,
      `${unknownJobs.length} of ${ledger.length}`,
    ),
  ];
}

async function checkStorage(environment: TestEnvironment): Promise<CheckResult[]> {
  const rows = await environment.query<{ storage_key: string; sha256: string }>(
    "select storage_key, sha256 from assets where deleted_at is null",
  );
  const storage = createDiskStorage(environment.storageDir);
  const files: string[] = [];
  for await (const object of storage.list("t/")) files.push(object.key);
  const onDisk = new Set(files);
  const inBook = new Set(rows.map((row) => row.storage_key));
  const damaged: string[] = [];
  for (const row of rows) {
    const bytes = await storage.bytes(row.storage_key);
    if (bytes && createHash("sha256").update(bytes).digest("hex") !== row.sha256) damaged.push(row.storage_key);
  }
  const orphans = files.filter((key) => !inBook.has(key));
  const missing = rows.filter((row) => !onDisk.has(row.storage_key));
  return [
    finding("every file has a row", orphans.length === 0, `${orphans.length} of ${files.length} without`),
    finding("every row has its file", missing.length === 0, `${missing.length} of ${rows.length} without`),
    finding("every file matches its row", damaged.length === 0, `${damaged.length} damaged`),
  ];
}

async function checkEngine(environment: TestEnvironment): Promise<CheckResult[]> {
  const rows = await queryEngine(environment);
  const isStuck = rows.some((row) => row.status === "paused");
  const observed = JSON.stringify(Object.fromEntries(rows.map((row) => [row.status, row.n])));
  return [finding("no invocation is stuck in the engine", !isStuck, observed)];
}

/** A node that has just restarted needs a moment before it can be queried. */
async function queryEngine(environment: TestEnvironment): Promise<{ status: string; n: number }[]> {
  const query = "select status, count(*) as n from sys_invocation where target_service_name = 'Run' group by status";
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${environment.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text).rows;
    if (tries > 20) throw new Error(`engine query failed: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Fails a campaign in which no response was lost: it did not test unknown outcomes. */
async function checkLostResponses(environment: TestEnvironment, posted: PostedRun[]): Promise<CheckResult[]> {
  const rows = await environment.query<{ run_id: string; replayed: boolean; unknown: boolean }>(
    "select run_id, send_count > 1 as replayed, unknown_since is not null as unknown from attempts where send_count > 1 or unknown_since is not null",
  );
  const ledger = await readSandboxLedger(environment);
  const lost = ledger.filter((job) => job.answer_lost && job.reference);
  const count = (which: string) => {
    const ids = new Set(posted.filter((post) => post.class === which).map((post) => post.run_id));
    return lost.filter((job) => ids.has(job.reference!.split(".")[0]!)).length;
  };
  const observed = `responses lost: A ${count("A")}, B ${count("B")}, C ${count("C")}; unknown outcomes: ${rows.length}`;
  return [
    finding(
      "responses were lost in every recovery class",
      ["A", "B", "C"].every((each) => count(each) > 0),
      observed,
    ),
  ];
}
