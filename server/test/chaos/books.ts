// The oracle: after a campaign the books are laid side by side (the customers' notes, PostgreSQL, the engine, the storage,
// the vendor's own ledger), and every promise is held against them.
import { createHash } from "node:crypto";
import { diskStorage } from "../../src/media/storage-disk.ts";
import { readLedger } from "../caller.ts";
import type { Finding } from "../campaign.ts";
import type { World } from "../world.ts";
import type { Posted } from "./load.ts";
import { compareMoney } from "./money.ts";

type RunBook = { run_id: string; status: string; cost: unknown; code: string | null; ends: number; keys: number };

export async function compareBooks(world: World, posted: Posted[], mustMeetDoubt: boolean): Promise<Finding[]> {
  const runs = await world.query<RunBook>(
    `select run_id, status, cost, error->>'code' as code,
       (select count(*)::int from events where events.run_id = runs.run_id and terminal) as ends,
       (select count(*)::int from idempotency_keys k where k.run_id = runs.run_id) as keys
     from runs where run_id = any($1::uuid[])`,
    [posted.map((post) => post.run_id)],
  );
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const ended = runs.filter((run) => ["completed", "failed", "canceled"].includes(run.status));
  const classOf = new Map(posted.map((post) => [post.run_id, post.class]));
  const failed = runs.filter((run) => run.status !== "completed");
  const wrong = failed.filter((run) => !(classOf.get(run.run_id) === "C" && run.code === "provider_outcome_unknown"));

  return [
    finding(
      "every run that a customer was told of is there",
      byId.size === posted.length,
      `${byId.size} of ${posted.length}`,
    ),
    finding("every run has ended", ended.length === runs.length, `${ended.length} of ${runs.length}`),
    finding(
      "each run has exactly one end",
      runs.every((run) => run.ends === 1),
      `${runs.filter((run) => run.ends !== 1).length} others`,
    ),
    finding(
      "one key, one run",
      runs.every((run) => run.keys === 1),
      `${runs.filter((run) => run.keys !== 1).length} others`,
    ),
    finding(
      "runs end completed, or unknown where nobody could be asked",
      wrong.length === 0,
      `${runs.length - failed.length} completed, ${failed.length - wrong.length} unknown, ${wrong.length} others ${JSON.stringify(wrong.slice(0, 3))}`,
    ),
    finding(
      "only completed runs carry a cost",
      runs.every((run) => (run.cost !== null) === (run.status === "completed")),
      "as told",
    ),
    ...(await compareLedger(world, posted, byId)),
    ...(await compareMoney(world, posted)),
    ...(await compareStorage(world)),
    ...(await compareEngine(world)),
    ...(mustMeetDoubt ? await findDoubt(world, posted) : []),
  ];
}

const finding = (promise: string, holds: boolean, saw: string): Finding => ({ promise, holds, saw });

async function compareLedger(world: World, posted: Posted[], runs: Map<string, RunBook>): Promise<Finding[]> {
  const ledger = await readLedger(world);
  const jobsOf = (runId: string) => ledger.filter((job) => job.reference?.startsWith(runId));
  const twice = posted.filter((post) => jobsOf(post.run_id).length > 1);
  const unpaid = posted.filter(
    (post) => runs.get(post.run_id)?.status === "completed" && jobsOf(post.run_id).length !== 1,
  );
  const known = new Set(posted.map((post) => post.run_id));
  const strange = ledger.filter((job) => job.reference && !known.has(job.reference.split(".")[0]!));
  return [
    finding(
      "no run was submitted twice",
      twice.length === 0,
      `${twice.length} twice ${JSON.stringify(twice.slice(0, 3).map((p) => [p.class, p.run_id]))}`,
    ),
    finding("every completed run was made by one job", unpaid.length === 0, `${unpaid.length} others`),
    finding(
      "the vendor knows no job that we do not know",
      strange.length === 0,
      `${strange.length} of ${ledger.length}`,
    ),
  ];
}

async function compareStorage(world: World): Promise<Finding[]> {
  const rows = await world.query<{ storage_key: string; sha256: string }>(
    "select storage_key, sha256 from assets where deleted_at is null",
  );
  const storage = diskStorage(world.storageDir);
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
    finding("every file is what its row says", damaged.length === 0, `${damaged.length} damaged`),
  ];
}

async function compareEngine(world: World): Promise<Finding[]> {
  const rows = await askEngine(world);
  const isStuck = rows.some((row) => row.status === "paused");
  const saw = JSON.stringify(Object.fromEntries(rows.map((row) => [row.status, row.n])));
  return [finding("no invocation is stuck in the engine", !isStuck, saw)];
}

/** A node that has just come back needs a moment before it can be asked about what it holds. */
async function askEngine(world: World): Promise<{ status: string; n: number }[]> {
  const query = "select status, count(*) as n from sys_invocation where target_service_name = 'Run' group by status";
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${world.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text).rows;
    if (tries > 20) throw new Error(`the engine cannot be asked: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** A campaign that never lost an answer has not tried what it is for. */
async function findDoubt(world: World, posted: Posted[]): Promise<Finding[]> {
  const rows = await world.query<{ run_id: string; replayed: boolean; unknown: boolean }>(
    "select run_id, sends > 1 as replayed, unknown_since is not null as unknown from attempts where sends > 1 or unknown_since is not null",
  );
  const ledger = await readLedger(world);
  const lost = ledger.filter((job) => job.answer_lost && job.reference);
  const count = (which: string) => {
    const ids = new Set(posted.filter((post) => post.class === which).map((post) => post.run_id));
    return lost.filter((job) => ids.has(job.reference!.split(".")[0]!)).length;
  };
  const saw = `answers lost: A ${count("A")}, B ${count("B")}, C ${count("C")}; attempts in doubt: ${rows.length}`;
  return [
    finding(
      "the window of doubt was really met, in every class",
      ["A", "B", "C"].every((each) => count(each) > 0),
      saw,
    ),
  ];
}
