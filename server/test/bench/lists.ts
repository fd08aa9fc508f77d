// `npm run bench -- lists`: every request of the console that reads or marks runs, for a tenant with a million of them,
// over HTTP. Prints the median and the 99th percentile of each. `--runs N` inserts fewer runs, `--samples N` sends
// fewer requests, `--data FOLDER` keeps the runs there and uses them again.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { migrate } from "../../src/db/migrations/migrate.ts";
import { termsOfRun } from "../../src/db/search/search-terms.ts";
import { startTestApi } from "../access/isolation.ts";
import { runPeriods } from "../support/run-periods.ts";
import { createTestTenant } from "../support/tenants.ts";
import type { TestDatabase } from "../support/test-database.ts";
import { percentile } from "./full-service.ts";
import { type InsertedRuns, insertManyRuns } from "./many-runs.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    samples: { type: "string", default: "200" },
    data: { type: "string" },
  },
});
const [RUNS, SAMPLES] = [Number(values.runs), Number(values.samples)];
const GOAL_MS = 100;

const folder = values.data ?? mkdtempSync(join(tmpdir(), "gesso-lists-"));
const known = join(folder, "inserted.json");
mkdirSync(folder, { recursive: true });
const postgres = await startPostgres({ dataDir: join(folder, "postgres"), port: await freePort() });
const client = new pg.Client({ connectionString: postgres.url });

type Installation = InsertedRuns & { key: string; key_id: string };

/** The SQL of this benchmark and the server must agree on the terms of a run. */
async function checkTerms(): Promise<void> {
  const { rows } = await client.query(
    `select runs.user_id, runs.key_id, run_type, parent_run_id, model, provider, status, error ->> 'code' as error_code,
       inputs ->> 'prompt' as prompt, run_id, tenant_id
     from runs order by run_id limit 300`,
  );
  for (const { run_id, tenant_id, ...run } of rows) {
    const expected = termsOfRun(run);
    const { rowCount } = await client.query(
      `select from run_index where run_id = $1 and array(select unnest(terms) order by 1)
         = array(select unnest(term_hashes($2, $3::text[]) || ${runPeriods("$2", "$1")}) order by 1)`,
      [run_id, tenant_id, expected],
    );
    if (rowCount === 0) throw new Error(`${run_id} does not have the terms ${expected}`);
  }
}

async function insertInstallation(): Promise<Installation> {
  const query = async (text: string, parameters?: unknown[]) => (await client.query(text, parameters)).rows as never;
  const { tenant_id, key, key_id } = await createTestTenant({ url: "", query });
  const startedAt = performance.now();
  const inserted = await insertManyRuns(client, { tenantId: tenant_id, keyId: key_id, count: RUNS });
  await checkTerms();
  console.log(`${RUNS} runs inserted in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return { key, key_id, ...inserted };
}

async function measure(): Promise<void> {
  await client.connect();
  await migrate(postgres.url);
  const isKnown = existsSync(known);
  const installation = isKnown ? (JSON.parse(readFileSync(known, "utf8")) as Installation) : await insertInstallation();
  if (!isKnown) writeFileSync(known, JSON.stringify(installation));
  const sizes = await client.query(
    `select relname, pg_size_pretty(pg_total_relation_size(oid)) as size from pg_class
     where relname in ('runs', 'run_index') order by relname`,
  );
  for (const { relname, size } of sizes.rows) console.log(`  ${relname.padEnd(14)} ${size}`);

  const env = { STORAGE_DIR: folder, TENANT_REQUESTS_PER_MINUTE: "0", KEY_REQUESTS_PER_MINUTE: "0" };
  const api = await startTestApi({ url: postgres.url } as TestDatabase, env);
  try {
    for (const [name, path] of paths(installation))
      await measureRequest(name, (n) => send(`${api.url}${path(n)}`, installation.key));
    for (const [name, change] of changes())
      await measureRequest(name, (n) => {
        const runId = installation.someRuns[n % installation.someRuns.length];
        return send(`${api.url}/api/v1/runs/${runId}`, installation.key, change(n));
      });
  } finally {
    await api.close();
  }
}

/** A different star or list of tags than the run had before. */
const changes = (): [name: string, change: (sample: number) => object][] => [
  ["star", (n) => ({ starred: n % 2 === 0 })],
  ["tags", (n) => ({ tags: ["campaign", `sample${n}`] })],
];

const send = (url: string, key: string, change?: object) =>
  fetch(url, {
    headers: { authorization: `Bearer ${key}`, ...(change && { "content-type": "application/json" }) },
    ...(change && { method: "PATCH", body: JSON.stringify(change) }),
  });

type Path = (sample: number) => string;

/** A different value for each sample, where there are several. */
function paths({ key_id, bigTree, someRuns }: Installation): [name: string, path: Path][] {
  const any = (sample: number, below = RUNS) => (sample * 7919) % below;
  const at = (sample: number) => new Date(Date.now() - any(sample) * 60_000).toISOString();
  const list = (query: string) => () => `/runs?${query}`;
  const runPath = (n: number) => `/runs/${someRuns[n % someRuns.length]}`;
  const relative: [name: string, path: Path][] = [
    ["everything", list("")],
    ["100 per page", list("limit=100")],
    ["before a time", (n) => `/runs?created_before=${at(n)}`],
    ["between two times", (n) => `/runs?created_after=${at(n)}&created_before=${at(n)}`],
    ["completed", list("status=completed")],
    ["failed", list("status=failed")],
    ["queued (none)", list("status=queued")],
    ["model, common", list("model=flux-dev")],
    ["model, 10 runs", list("model=rare-model")],
    ["model, none", list("model=none")],
    ["run type, none", list("run_type=none")],
    ["provider", list("provider=bfl")],
    ["provider, none", list("provider=none")],
    ["key", list(`key_id=${key_id}`)],
    ["user", (n) => `/runs?user_id=user${any(n, 50)}`],
    ["error code", list("error_code=run_timeout")],
    ["error code, none", list("error_code=none")],
    ["roots", list("roots=true")],
    ["starred", list("starred=true")],
    ["tag", list("tag=campaign")],
    ["tag, none", list("tag=none")],
    ["word, half of all", list("q=portrait")],
    ["word, 1 %", (n) => `/runs?q=mood${any(n, 100)}`],
    ["word, 200 runs", (n) => `/runs?q=noun${any(n, 5000)}`],
    ["word, one run", (n) => `/runs?q=unique${any(n)}`],
    ["word, none", list("q=submarine")],
    ["three words", (n) => `/runs?q=portrait+light${any(n, 12)}+place${any(n, 400)}`],
    ["two words, never together", list("q=portrait+landscape")],
    ["word and model", (n) => `/runs?q=noun${any(n, 5000)}&model=flux-dev`],
    ["word, rare model", list("q=portrait&model=rare-model")],
    ["failed, user and word", (n) => `/runs?status=failed&user_id=user${any(n, 50)}&q=landscape`],
    [
      "seven filters",
      (n) =>
        `/runs?q=portrait&status=completed&model=flux-dev&provider=fal&key_id=${key_id}&roots=true&user_id=user${any(n, 50)}`,
    ],
    ["histogram", () => "/runs/histogram"],
    ["histogram of a model", () => "/runs/histogram?model=flux-dev"],
    ["get", runPath],
    ["ledger", (n) => `${runPath(n)}/ledger`],
    ["tree", (n) => `${runPath(n)}/tree`],
    ["tree of 500 runs", () => `/runs/${bigTree}/tree`],
    ["catalogue", () => "/catalogue"],
    ["me", () => "/me"],
  ];
  return relative.map(([name, path]) => [name, (n) => `/api/v1${path(n)}`]);
}

type ListBody = { data?: unknown[]; nodes?: unknown[]; next_cursor?: string | null };

async function measureRequest(name: string, request: (sample: number) => Promise<Response>): Promise<void> {
  const times: number[] = [];
  let found = "";
  // The first requests of a connection also plan its statements.
  for (let sample = -20; sample < SAMPLES; sample++) {
    const startedAt = performance.now();
    const response = await request(Math.abs(sample));
    const body = (await response.json()) as ListBody;
    if (sample >= 0) times.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${name}: ${response.status} ${JSON.stringify(body)}`);
    const entries = body.data ?? body.nodes;
    if (entries) found = `${entries.length} entries${body.next_cursor ? " and more" : ""}`;
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  console.log(
    `${name.padEnd(28)} p50 ${p50.toFixed(1).padStart(6)} ms   p99 ${p99.toFixed(1).padStart(6)} ms   ${found}`,
  );
  if (p99 > GOAL_MS) process.exitCode = 1;
}

try {
  await measure();
  console.log(`goal: p99 of each at most ${GOAL_MS} ms`);
} finally {
  await client.end();
  await postgres.stop();
  if (!values.data) rmSync(folder, { recursive: true, force: true });
}
