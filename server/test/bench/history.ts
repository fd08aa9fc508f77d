// `npm run bench -- history`: what runs and reads cost after 10,000, 100,000 and 1,000,000 finished runs, in a history
// of 8, 98 and 400 days. The database grows from one size to the next. `--runs 10000,100000` and `--days 8,98` choose
// sizes, `--data FOLDER` keeps the database and continues with it, `--seed-only` measures nothing.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { insertFinishedRuns } from "./finished-runs.ts";
import { createRunPoster, measureLatency, percentile } from "./full-service.ts";
import { listReads, type MeasuredTenant, measureRead, type ReadTimes } from "./history-reads.ts";
import { checkPlans } from "./plan-check.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000,100000,1000000" },
    days: { type: "string", default: "8,98,400" },
    samples: { type: "string", default: "60" },
    rounds: { type: "string", default: "5" },
    data: { type: "string" },
    "seed-only": { type: "boolean", default: false },
  },
});
const STEPS = values.runs.split(",").map(Number);
const DAYS = values.days.split(",").map(Number);
const [SAMPLES, ROUNDS] = [Number(values.samples), Number(values.rounds)];
const RUNS_PER_ROUND = 200;
const CALLERS = 16;
/** Beyond this number, copies have short prompts and no thumbnails: 10,000,000 whole ones do not fit on most disks. */
const MAX_WHOLE_RUNS = 1_000_000;
const MAX_WRITE_RATIO = 1.1;
const MAX_READ_RATIO = 2;

type Known = {
  tenant_id: string;
  key: string;
  key_id: string;
  originals: { completed: string; failed: string };
  runs: number;
};
type Measurement = {
  runs: number;
  days: number;
  cpuMs: number[];
  acceptMs: number[];
  reads: Record<string, ReadTimes>;
};

const folder = values.data ?? mkdtempSync(join(tmpdir(), "gesso-history-"));
const knownPath = join(folder, "history.json");
mkdirSync(folder, { recursive: true });
const postgres = await startPostgres({
  dataDir: join(folder, "postgres"),
  port: await freePort(),
  settings: { max_connections: "200", shared_buffers: "1GB", max_wal_size: "4GB", maintenance_work_mem: "512MB" },
});
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();

/** Runs that the service executes, of which the history is made: one completes and one fails. */
async function createOriginals(environment: TestEnvironment): Promise<Known> {
  const tenant = await createTestTenant(environment);
  const execute = async (prompt: string) => {
    const response = await fetch(`${environment.url}/api/v1/runs/generate`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt, width: 256, height: 256 }),
    });
    return ((await response.json()) as { run_id: string }).run_id;
  };
  const completed = await execute("[sandbox:delay=0] a lighthouse");
  const failed = await execute("[sandbox:delay=0,fail] a lighthouse");
  await waitUntilEnded();
  const { rows } = await client.query<{ status: string }>("select status from runs where run_id = any($1)", [
    [completed, failed],
  ]);
  const statuses = rows.map(({ status }) => status).sort();
  if (statuses.join() !== "completed,failed") throw new Error(`the originals are ${statuses.join(" and ")}`);
  const { tenant_id, key, key_id } = tenant;
  return { tenant_id, key, key_id, originals: { completed, failed }, runs: 0 };
}

const waitUntilEnded = () => waitUntil("not exists (select from open_runs)");

/** Until then, usage is summed up from the runs. */
const waitForSums = () =>
  waitUntil("exists (select from daily_usage_cursor where xact is not null and backfill_before is null)");

async function waitUntil(condition: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ holds: boolean }>(`select ${condition} as holds`);
    if (rows[0]!.holds) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function grow(known: Known, runs: number, days: number): Promise<void> {
  const startedAt = performance.now();
  const isSlim = runs > MAX_WHOLE_RUNS;
  const count = runs - known.runs;
  await insertFinishedRuns(client, { ...known, tenantId: known.tenant_id, keyId: known.key_id, count, days, isSlim });
  // The copies have their terms, and are behind the position of the sums of usage, which are built again.
  await client.query("update run_index_position set backfill_before = null");
  await client.query("update daily_usage_cursor set xact = null");
  await client.query("vacuum (analyze)");
  console.log(`${runs} runs of ${days} days: inserted in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  if (!isSlim) await printSizes(runs);
}

/** What a finished run needs in each table, in a database that has been written by copies. */
async function printSizes(runs: number): Promise<void> {
  const { rows } = await client.query<{ name: string; table_bytes: number; index_bytes: number }>(
    `select relname as name, pg_table_size(oid)::float as table_bytes, pg_indexes_size(oid)::float as index_bytes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > $1::int / 100
     order by pg_total_relation_size(oid) desc`,
    [runs],
  );
  for (const { name, table_bytes, index_bytes } of rows)
    console.log(
      `  ${name.padEnd(20)} ${(table_bytes / runs).toFixed(0)} B and ${(index_bytes / runs).toFixed(0)} B of indexes`,
    );
  const total = rows.reduce((sum, { table_bytes, index_bytes }) => sum + table_bytes + index_bytes, 0);
  console.log(`  a finished run: ${(total / runs / 1000).toFixed(2)} kB`);
}

async function measure(environment: TestEnvironment, known: Known, runs: number, days: number): Promise<Measurement> {
  const measured: Measurement = { runs, days, cpuMs: [], acceptMs: [], reads: {} };
  await waitForSums();
  const caller = { ...environment, key: known.key };
  for (let round = -1; round < ROUNDS; round++) {
    const post = createRunPoster(caller, CALLERS);
    let next = 0;
    const call = async () => {
      while (next++ < RUNS_PER_ROUND) if ((await post()).status !== 202) throw new Error("a run was refused");
    };
    const { cpu } = await measureCpu({ postgres: postgres.pid }, async () => {
      await Promise.all(Array.from({ length: CALLERS }, call));
      await waitUntilEnded();
    });
    if (round >= 0) measured.cpuMs.push((cpu.postgres! * 1000) / RUNS_PER_ROUND);
  }
  measured.acceptMs = (await measureLatency(caller, 10, 15)).acceptMs;
  const tenant: MeasuredTenant = {
    url: environment.url,
    key: known.key,
    keyId: known.key_id,
    ...(await someRuns(known)),
  };
  for (const [name, path] of Object.entries(listReads(tenant)))
    measured.reads[name] = await measureRead(tenant, postgres.pid, path, SAMPLES);
  return measured;
}

/** Runs of all times, and roots of trees. */
async function someRuns({ tenant_id }: Known): Promise<Pick<MeasuredTenant, "someRuns" | "roots">> {
  const sample = async (condition: string) => {
    const { rows } = await client.query<{ run_id: string }>(
      `select run_id from runs tablesample bernoulli (1) where tenant_id = $1 and ${condition} limit 100`,
      [tenant_id],
    );
    return rows.map(({ run_id }) => run_id);
  };
  return { someRuns: await sample("true"), roots: await sample("parent_run_id is null") };
}

function printTable(measurements: Measurement[]): void {
  const row = (name: string, cells: string[]) => console.log(`| ${[name, ...cells].join(" | ")} |`);
  const ratio = (of: (measurement: Measurement) => number) =>
    (of(measurements.at(-1)!) / of(measurements[0]!)).toFixed(2);
  const median = (numbers: number[]) => percentile(numbers, 0.5);
  row("", [
    ...measurements.map(({ runs, days }) => `${runs.toLocaleString("en")} runs, ${days} days`),
    "last to first",
  ]);
  row("---", [...measurements.map(() => "---"), "---"]);
  row("PostgreSQL CPU per run, ms", [
    ...measurements.map(({ cpuMs }) => median(cpuMs).toFixed(2)),
    ratio(({ cpuMs }) => median(cpuMs)),
  ]);
  row("accept p50 / p99, ms", [
    ...measurements.map(({ acceptMs }) => `${median(acceptMs).toFixed(1)} / ${percentile(acceptMs, 0.99).toFixed(1)}`),
    ratio(({ acceptMs }) => median(acceptMs)),
  ]);
  for (const name of Object.keys(measurements[0]!.reads)) {
    const times = measurements.map(({ reads }) => reads[name]!);
    const cells = times.map(({ p50, p99, cpuMs }) => `${p50.toFixed(1)} / ${p99.toFixed(1)} (${cpuMs.toFixed(1)})`);
    row(name, [...cells, ratio(({ reads }) => reads[name]!.p50)]);
  }
  console.log("Reads: p50 / p99 in ms, and CPU of PostgreSQL per request in ms.");
  console.log(
    `Goals: writes at most ${MAX_WRITE_RATIO} times, reads at most ${MAX_READ_RATIO} times the first column.`,
  );
  const writes = median(measurements.at(-1)!.cpuMs) / median(measurements[0]!.cpuMs);
  const reads = Object.keys(measurements[0]!.reads).map(
    (name) => measurements.at(-1)!.reads[name]!.p50 / measurements[0]!.reads[name]!.p50,
  );
  if (writes > MAX_WRITE_RATIO || reads.some((each) => each > MAX_READ_RATIO)) process.exitCode = 1;
}

const env = { LOG_LEVEL: "error", TENANT_REQUESTS_PER_MINUTE: "0", KEY_REQUESTS_PER_MINUTE: "0" };
const environment = await startTestEnvironment({ roles: "split", databaseUrl: postgres.url, env });
try {
  const known = existsSync(knownPath)
    ? (JSON.parse(readFileSync(knownPath, "utf8")) as Known)
    : await createOriginals(environment);
  const measurements: Measurement[] = [];
  for (const [index, runs] of STEPS.entries()) {
    const days = DAYS[index] ?? DAYS.at(-1)!;
    if (runs > known.runs) {
      await grow(known, runs, days);
      known.runs = runs;
      writeFileSync(knownPath, JSON.stringify(known));
    }
    if (values["seed-only"]) continue;
    measurements.push(await measure(environment, known, runs, days));
    const { statements, scans, maxLocks } = await checkPlans(postgres.url);
    console.log(
      `${statements} plans, at most ${maxLocks.locks} locks (${maxLocks.name}); scans of large tables: ${scans.length}`,
    );
    for (const scan of scans) console.log(`  ${scan}`);
    if (scans.length > 0) process.exitCode = 1;
  }
  if (measurements.length > 0) printTable(measurements);
} finally {
  await environment.stop();
  await client.end();
  await postgres.stop();
  if (!values.data) rmSync(folder, { recursive: true, force: true });
}
