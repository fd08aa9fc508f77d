// The restore drill: PostgreSQL, Restate and all processes are killed under load. PostgreSQL is restored to an earlier
// point in time, Restate starts empty, and the storage stays as it was. Every run that was accepted before that point
// completes, the ledger balances, and only jobs that the restored database cannot know are submitted again. The
// reconciler names the lost runs, and event readers of the lost period receive an error.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { STORAGE_KEY } from "../../src/db/files/asset-key.ts";
import { readSandboxLedger } from "../support/api-caller.ts";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import { checkLedgerOf } from "../support/check-ledger.ts";
import { createDrillClients, waitUntilNoneOpen } from "../support/drill-clients.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import type { ArchivedPostgres } from "./archived-postgres.ts";
import { checkReaders, checkReconciliation, readEventPosition } from "./check-reconciliation.ts";

const MIN_FILE_AGE_MS = 20_000;
const MIN_LATE_RUNS = 5;

/** Seconds of load before the point in time, and after it. */
export type RestoreSize = { perSecond: number; before: number; after: number };

/** `start` starts a PostgreSQL with one way of backups. */
export async function pointInTimeRestore(
  size: RestoreSize,
  start: (directory: string) => Promise<ArchivedPostgres>,
  log: Log,
): Promise<CampaignReport> {
  const directory = mkdtempSync(join(tmpdir(), "gesso-restore-"));
  const postgres = await start(directory);
  const proxy = await startTcpProxy(postgres.port);
  const url = new URL(postgres.server.url);
  url.port = String(proxy.port);
  const environment = await startTestEnvironment({ roles: "split", databaseUrl: url.href });
  let restored: Awaited<ReturnType<typeof postgres.restore>> | undefined;
  try {
    await postgres.backUp();
    log("base backup taken");
    const load = await loadAndKill(environment, size);
    await postgres.server.kill("SIGKILL");
    const killedAt = Date.now();
    const { time, kept, accepted } = load;
    log(`everything killed; ${kept.length} of ${accepted.length} runs were accepted before the point in time`);

    restored = await postgres.restore(time);
    proxy.retarget(restored.port);
    proxy.cut();
    const databaseSeconds = (Date.now() - killedAt) / 1000;
    rmSync(environment.restateDir, { recursive: true, force: true });
    for (const name of ["restate", "worker", "api"] as const) await environment.start(name);
    const seconds = (Date.now() - killedAt) / 1000;
    log(`restored after ${seconds.toFixed(1)} s`);
    await waitUntilNoneOpen(environment, 240);
    // The reconciler leaves out files that were stored a moment ago.
    await sleep(Math.max(0, killedAt + MIN_FILE_AGE_MS - Date.now()));
    const lost = accepted.length - kept.length;
    return {
      name: `restore to a point in time, ${size.perSecond} runs/s, ${accepted.length} runs`,
      results: [
        ...(await checkRestore(environment, load)),
        ...(await checkReconciliation(environment, load)),
        ...(await checkReaders(environment, load)),
      ],
      notes: [
        `recovery time: ${databaseSeconds.toFixed(1)} s for PostgreSQL, ${seconds.toFixed(1)} s until the API served`,
        `${lost} runs of the ${size.after} s after the point in time are gone, as they must be`,
      ],
      counts: { runs: accepted.length, kills: 4 },
    };
  } finally {
    await environment.stop();
    await proxy.close();
    await restored?.server.stop();
    await postgres.server.stop().catch(() => {});
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Applies the load and kills all processes. `time` is the point in time, `before` and `ahead` are positions of event
 * readers before it and at the end.
 */
async function loadAndKill(environment: TestEnvironment, { perSecond, before: seconds, after }: RestoreSize) {
  const prompts = Array.from(
    { length: perSecond * (seconds + after) },
    (_, index) => `[sandbox:delay=${index % 4}] restore ${index}`,
  );
  const clients = createDrillClients(environment);
  const posted = clients.post(prompts, perSecond);
  await sleep(seconds * 1000);
  const kept = [...clients.accepted];
  const before = await readEventPosition(environment);
  const [row] = await environment.query<{ time: string }>("select now()::text as time");
  const { time } = row!;
  await posted;
  await waitForLateRuns(environment, time);
  const late = await listLateRuns(environment, time);
  const ahead = await readEventPosition(environment);
  // The archive receives the last segment within a second.
  await sleep(3000);
  for (const name of ["api", "worker", "restate"] as const) await environment.kill(name);
  return { time, kept, late, accepted: clients.accepted, before, ahead };
}

/** On a busy machine no run after the point in time may have begun; the reconciler needs some with files. */
async function waitForLateRuns(environment: TestEnvironment, time: string): Promise<void> {
  for (const until = Date.now() + 120_000; Date.now() < until; await sleep(250)) {
    const [row] = await environment.query<{ ended: number }>(
      "select count(*)::int as ended from runs where created_at > $1::timestamptz and finished_at is not null",
      [time],
    );
    if (row!.ended >= MIN_LATE_RUNS) return;
  }
}

/** Runs with an attempt that began after the point in time: the restored database does not know of it. */
const listLateRuns = async (environment: TestEnvironment, time: string) =>
  (
    await environment.query<{ run_id: string }>(
      "select distinct run_id from attempts where created_at > $1::timestamptz",
      [time],
    )
  ).map(({ run_id }) => run_id);

type RestoredRuns = { time: string; kept: string[]; late: string[] };

async function checkRestore(environment: TestEnvironment, { time, kept, late }: RestoredRuns): Promise<CheckResult[]> {
  const runs = await environment.query<{ run_id: string; status: string; ends: number }>(
    `select run_id, status,
       (select count(*)::int from events where events.run_id = runs.run_id and terminal) as ends
     from runs where run_id = any($1::uuid[])`,
    [kept],
  );
  const [after] = await environment.query<{ count: number }>(
    "select count(*)::int as count from runs where created_at > $1::timestamptz and not run_id = any($2::uuid[])",
    [time, kept],
  );
  const completed = runs.filter(({ status, ends }) => status === "completed" && ends === 1);
  const jobs = Map.groupBy(await readSandboxLedger(environment), ({ reference }) => reference?.split(".")[0] ?? "");
  const twice = kept.filter((runId) => (jobs.get(runId)?.length ?? 0) > 1);
  const unexplained = twice.filter((runId) => !late.includes(runId));
  const files = await environment.query<{ storage_key: string }>(
    `select ${STORAGE_KEY} as storage_key from assets where deleted_at is null`,
  );
  const missing = files.filter(({ storage_key }) => !existsSync(join(environment.storageDir, "objects", storage_key)));
  const violated = (await checkLedgerOf(environment)).filter(({ violations }) => violations > 0);
  const result = (invariant: string, passed: boolean, observed: string) => ({ invariant, passed, observed });
  return [
    result(
      "every run that was accepted before the point in time completes once",
      completed.length === kept.length && kept.length > 0,
      `${completed.length} of ${kept.length}`,
    ),
    result("no run after the point in time exists", after!.count === 0, `${after!.count}`),
    result(
      "only jobs that began after the point in time are submitted again",
      unexplained.length === 0,
      `${twice.length} twice, ${unexplained.length} of them known to the restored database, ${late.length} began later`,
    ),
    result(
      "every file of a row exists",
      missing.length === 0 && files.length > 0,
      `${files.length - missing.length} of ${files.length}`,
    ),
    result("the ledger balances", violated.length === 0, JSON.stringify(violated)),
  ];
}
