// `npm run bench -- age`: 200 runs by 32 callers on installations that are 8, 98 and 400 days old, in turns on the same
// machine. `--short` measures one round at 8 and 98 days.
import { parseArgs } from "node:util";
import pg from "pg";
import { insertHistory } from "../support/insert-history.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { createRunPoster, percentile } from "./full-service.ts";

const { short } = parseArgs({ options: { short: { type: "boolean", default: false } } }).values;
const AGES_IN_DAYS = short ? [8, 98] : [8, 98, 400];
const ROUNDS = short ? 1 : 5;
const RUNS_PER_DAY = 200;
const RUNS = 200;
const CALLERS = 32;
/** The older installation may take this much longer; timings differ by as much between two rounds. */
const MAX_RATIO = 1.25;

type Round = { ms: number; databaseCpuMs: number; refused: number };
type AgedInstallation = { days: number; environment: TestEnvironment; rounds: Round[] };

async function startInstallation(days: number): Promise<AgedInstallation> {
  const environment = await startTestEnvironment({ roles: "split", env: { LOG_LEVEL: "error" } });
  const client = new pg.Client({ connectionString: environment.databaseUrl });
  await client.connect();
  await insertHistory(client, { days, runsPerDay: RUNS_PER_DAY });
  await client.end();
  return { days, environment, rounds: [] };
}

/** Posts the runs and waits until all have ended. */
async function measureRound({ environment }: AgedInstallation): Promise<Round> {
  const post = createRunPoster(environment, CALLERS);
  let [next, refused] = [0, 0];
  const call = async () => {
    while (next++ < RUNS) if ((await post()).status !== 202) refused++;
  };
  const start = performance.now();
  const { cpu } = await measureCpu({ postgres: environment.pids().postgres! }, async () => {
    await Promise.all(Array.from({ length: CALLERS }, call));
    for (;;) {
      const [row] = await environment.query<{ count: number }>("select count(*)::int from open_runs");
      if (row!.count === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  return { ms: performance.now() - start, databaseCpuMs: (cpu.postgres! * 1000) / RUNS, refused };
}

const installations: AgedInstallation[] = [];
for (const days of AGES_IN_DAYS) installations.push(await startInstallation(days));
for (const installation of installations) await measureRound(installation);
for (let round = 0; round < ROUNDS; round++) {
  for (const installation of installations) installation.rounds.push(await measureRound(installation));
}
const median = (values: number[]) => percentile(values, 0.5);
for (const { days, environment, rounds } of installations) {
  const [row] = await environment.query<{ count: number }>(
    "select count(*)::int from runs where status <> 'completed' and created_at > now() - interval '1 hour'",
  );
  const refused = rounds.reduce((sum, round) => sum + round.refused, 0);
  console.log(
    `${String(days).padStart(3)} days: ${RUNS} runs in ${(median(rounds.map(({ ms }) => ms)) / 1000).toFixed(2)} s ` +
      `(${rounds.map(({ ms }) => (ms / 1000).toFixed(2)).join(", ")}), PostgreSQL ` +
      `${median(rounds.map(({ databaseCpuMs }) => databaseCpuMs)).toFixed(2)} ms CPU per run, ` +
      `${refused} refused, ${row!.count} not completed`,
  );
  if (refused + row!.count > 0) process.exitCode = 1;
  await environment.stop();
}
const [young, ...older] = installations.map(({ rounds }) => median(rounds.map(({ ms }) => ms)));
const ratios = older.map((ms) => ms / young!);
console.log(`old to young: ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}   (goal: at most ${MAX_RATIO})`);
if (ratios.some((ratio) => ratio > MAX_RATIO)) process.exitCode = 1;
