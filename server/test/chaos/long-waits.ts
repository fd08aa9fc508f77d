// The campaign of long waits: thousands of queued runs while their only provider is down, then one that answers 429 for
// as long, and a job that outlasts several deploys. Nothing may be lost, paid twice or paid and not delivered, and runs
// at other providers go on meanwhile. What waiting costs is a figure, not a check.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import type { ProcessName } from "../support/test-environment.ts";
import { type ChaosEnvironment, startChaosEnvironment } from "./chaos-environment.ts";
import { checkInvariants } from "./check-invariants.ts";
import { CHAOS_ENV } from "./process-kills.ts";
import { countOpenRuns, type PostedRun, postAtRate, postRun, postWhile, waitUntilAllEnded } from "./run-load.ts";

/** `seconds`: how long the provider is down, and how long it answers 429 afterwards. */
export type LongWaits = { queued: number; perSecond: number; seconds: number; limited: number };

const DEPLOYS = 3;
const BETWEEN_CHECKS_MS = 10_000;
const RETRY_AFTER_SECONDS = 20;
const RUN_DEADLINE_SECONDS = 6 * 3600;

const queuedRun = (index: number) => ({ class: "D", prompt: `waits ${index}` }) as const;
const otherRun = (index: number) => ({ class: "A", prompt: `[sandbox:delay=0.2] other ${index}` }) as const;

export async function longWaits(waits: LongWaits, log: Log): Promise<CampaignReport> {
  const { BREAKER_FAILURES: _usual, ...env } = CHAOS_ENV;
  const environment = await startChaosEnvironment({
    roles: "split",
    secondWorker: true,
    env: { ...env, RUN_DEADLINE_SECONDS: String(RUN_DEADLINE_SECONDS) },
  });
  const { openai } = environment;
  openai.switches.workMs = 1000;
  const notes: string[] = [];
  let isOver = false;
  try {
    const jobSeconds = 2 * waits.seconds;
    const longJob = await postRun(environment, { class: "A", prompt: `[sandbox:delay=${jobSeconds}] a long job` });
    const others = postWhile(environment, () => !isOver, 1, otherRun);
    const deploys = deployRepeatedly(environment, jobSeconds, () => isOver);

    await openai.stopListening();
    const queued = await postAtRate(
      environment,
      Array.from({ length: waits.queued }, (_, n) => queuedRun(n)),
      waits.perSecond,
    );
    log(`${queued.length} runs are queued at a provider that is down`);
    notes.push(await watchWaiting(environment, "down", waits.seconds, log));
    await openai.startListening();
    const startedAt = Date.now();
    await waitUntilFewAreOpen(environment, queued.length);
    notes.push(`back: half of them ended within ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);

    const before = openai.ledger.length;
    openai.switches.refuse = {
      ...{ times: Number.MAX_SAFE_INTEGER, status: 429 },
      headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    };
    const limited = await postAtRate(
      environment,
      Array.from({ length: waits.limited }, (_, n) => queuedRun(n)),
      waits.perSecond,
    );
    notes.push(await watchWaiting(environment, "429", waits.seconds, log));
    const accepted = openai.ledger.length - before;
    openai.switches.refuse = undefined;

    isOver = true;
    const posted: PostedRun[] = [longJob, ...queued, ...limited, ...(await others)];
    const deployed = await deploys;
    await waitUntilAllEnded(environment, 1800);
    notes.push(await timesOfOthers(environment));
    return {
      name: `${queued.length} runs behind a provider that was down for ${waits.seconds} s, ${limited.length} behind 429`,
      results: [
        ...(await checkInvariants(environment, posted)),
        await checkLongJob(environment, longJob, deployed),
        { invariant: "no job is accepted with 429", passed: accepted === 0, observed: `${accepted} jobs` },
      ],
      notes,
      counts: { runs: posted.length, kills: 0 },
    };
  } finally {
    isOver = true;
    await environment.stop();
  }
}

/** Deploys one worker after the other, as often as it is asked for, while the long job goes on. */
async function deployRepeatedly(
  environment: ChaosEnvironment,
  seconds: number,
  isOver: () => boolean,
): Promise<number> {
  let deployed = 0;
  for (let deploy = 0; deploy < DEPLOYS; deploy++) {
    for (let waited = 0; waited < seconds / (DEPLOYS + 1) && !isOver(); waited++) await pause(1000);
    if (isOver()) break;
    for (const worker of ["worker", "worker2"] satisfies ProcessName[]) {
      await environment.stopGracefully(worker);
      await environment.start(worker);
    }
    deployed++;
  }
  return deployed;
}

/** What the processes use while runs wait: CPU in seconds per minute. */
async function watchWaiting(environment: ChaosEnvironment, name: string, seconds: number, log: Log): Promise<string> {
  const before = cpuSeconds(environment);
  const startedAt = Date.now();
  while (Date.now() - startedAt < seconds * 1000) {
    await pause(Math.min(BETWEEN_CHECKS_MS, seconds * 1000));
    log(`${name}: ${await countOpenRuns(environment)} open`);
  }
  const minutes = (Date.now() - startedAt) / 60_000;
  const after = cpuSeconds(environment);
  const used = Object.entries(after).map(([process, cpu]) => {
    const spent = cpu - (before[process] ?? 0);
    return `${process} ${(Math.max(spent, 0) / minutes).toFixed(1)}`;
  });
  return `${name}: ${await countOpenRuns(environment)} open runs; CPU seconds per minute: ${used.join(", ")}`;
}

/** User and system time of the processes, without their children and without one that is just being deployed. */
function cpuSeconds(environment: ChaosEnvironment): Record<string, number> {
  const running = Object.entries(environment.pids()).filter(([, pid]) => existsSync(`/proc/${pid}/stat`));
  return Object.fromEntries(
    running.map(([process, pid]) => {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
      return [process, (Number(fields[11]) + Number(fields[12])) / 100];
    }),
  );
}

async function waitUntilFewAreOpen(environment: ChaosEnvironment, queued: number): Promise<void> {
  for (let tries = 0; tries < 3600; tries++) {
    if ((await countOpenRuns(environment)) < queued / 2) return;
    await pause(1000);
  }
}

async function timesOfOthers(environment: ChaosEnvironment): Promise<string> {
  const rows = await environment.query<{ seconds: number }>(
    `select extract(epoch from finished_at - created_at)::float as seconds from runs
     where inputs->>'prompt' like '%other%' and status = 'completed' order by 1`,
  );
  const times = rows.map(({ seconds }) => seconds);
  const show = (share: number) => `${(times[Math.floor(share * times.length)] ?? Number.NaN).toFixed(1)} s`;
  return `${times.length} runs at another provider meanwhile: p50 ${show(0.5)}, p99 ${show(0.99)}`;
}

async function checkLongJob(
  environment: ChaosEnvironment,
  { run_id }: PostedRun,
  deploys: number,
): Promise<CheckResult> {
  const [run] = await environment.query<{ status: string; attempts: number }>(
    `select status, (select count(*)::int from attempts where attempts.run_id = runs.run_id) as attempts
     from runs where run_id = $1`,
    [run_id],
  );
  return {
    invariant: "the job that outlasts the deploys is delivered by its only attempt",
    passed: run!.status === "completed" && run!.attempts === 1 && deploys === DEPLOYS,
    observed: `${run!.status}, ${run!.attempts} attempts, ${deploys} deploys`,
  };
}
