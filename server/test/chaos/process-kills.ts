// The campaigns: random kills, a kill at each crash point, and deletion of the engine's journal. Each ends with the
// invariant checks.
import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { CRASH_POINTS, type CrashPoint } from "../../src/observe/crash-points.ts";
import { type CampaignReport, type CheckResult, type Log, onlyPoint } from "../support/campaign.ts";
import type { ProcessName, TestEnvironment } from "../support/test-environment.ts";
import { type ChaosEnvironment, startChaosEnvironment } from "./chaos-environment.ts";
import { queryEngine } from "./check-engine.ts";
import { checkInvariants } from "./check-invariants.ts";
import { CALLBACK_WAIT_SECONDS } from "./check-unknown.ts";
import { type KillCounts, killRandomly, retryQuarantinedRuns, sumKills } from "./random-kills.ts";
import {
  countImported,
  countOpenRuns,
  type PostedRun,
  postAtRate,
  postRun,
  RECOVERY_CLASSES,
  type RunRequestSpec,
  waitUntilAllEnded,
} from "./run-load.ts";

export const CHAOS_ENV = {
  SUBMIT_SECONDS: "8",
  UNKNOWN_SECONDS: String(CALLBACK_WAIT_SECONDS),
  LOOKUP_GRACE_SECONDS: "2",
  RUN_DEADLINE_SECONDS: "600",
  // Vendors fail all the time: the campaigns test unknown outcomes, so circuit breakers stay closed.
  BREAKER_FAILURES: "100000",
};

/**
 * Jobs of 0.2 s and of 3 s at the vendor. A short campaign may by chance lose no response of a class, so there the
 * vendor itself drops a few of every class.
 */
const createRunRequests = (count: number, mayDrop: boolean): RunRequestSpec[] =>
  Array.from({ length: count }, (_, index) => createRunRequest(index, mayDrop));

/**
 * Three of ten runs are runs of imported models. Of the others of class A every second has an inline image, and some
 * have several requests; every 17th run is canceled.
 */
export function createRunRequest(index: number, mayDrop: boolean): RunRequestSpec {
  const recoveryClass = RECOVERY_CLASSES[index % RECOVERY_CLASSES.length]!;
  const round = Math.floor(index / RECOVERY_CLASSES.length);
  const isImported = recoveryClass !== "D" && round % 5 > 2;
  const drop = mayDrop && (round % 5 === 0 || round % 10 === 3) ? ",drop=1" : "";
  const directives = `[sandbox:accept_delay=${index % 3 ? 0.2 : 3},delay=${(index % 5) * 0.4}${drop}]`;
  return {
    class: recoveryClass,
    prompt: `${recoveryClass === "D" ? "" : directives} chaos ${index}`,
    ...(isImported
      ? { isImported }
      : recoveryClass === "A" && (round % 2 === 0 ? { hasInlineImage: true } : { count: 1 + (round % 3) })),
    ...(index % 17 === 5 && { cancelAfterMs: (index % 6) * 400 }),
  };
}

export async function randomKills(
  size: { runs: number; kills: number; deep: number; mayDrop: boolean; hasCluster: boolean },
  log: Log,
): Promise<CampaignReport> {
  const environment = await startChaosEnvironment({
    roles: "split",
    secondWorker: true,
    env: CHAOS_ENV,
    hasBucket: true,
    cluster: size.hasCluster,
  });
  environment.openai.switches.workMs = 800;
  environment.openai.switches.drop = { times: Math.ceil(size.runs / 40), when: "after" };
  try {
    const seconds = size.kills * 3;
    const loading = postAtRate(
      environment,
      createRunRequests(size.runs, size.mayDrop),
      Math.max(2, size.runs / seconds),
    );
    let posted: PostedRun[] | undefined;
    loading.then((done) => {
      posted = done;
    }, log);
    const enough = (kills: KillCounts) =>
      sumKills(kills) >= size.kills && kills.postgres + kills.restate >= size.deep && posted !== undefined;
    const kills = await killRandomly(environment, enough, log);
    await waitUntilAllEnded(environment, 180);
    const deaths = await retryQuarantinedRuns(environment);
    if (deaths.length > 0) await waitUntilAllEnded(environment, 180);
    const findings = await checkInvariants(environment, await loading, { hasLostResponses: true });
    findings.push({
      invariant: "a run is in quarantine only after three kills of the worker that stored it",
      passed: deaths.every((count) => count >= 3),
      observed: `${deaths.length} in quarantine, and retried`,
    });
    return {
      name: `${size.runs} runs, ${await countImported(environment)} of imported models, ${sumKills(kills)} kills at random`,
      results: findings,
      counts: { runs: size.runs, kills: sumKills(kills) },
      notes: [`kills: ${JSON.stringify(kills)}`],
    };
  } finally {
    await environment.stop();
  }
}

/**
 * A vendor with callbacks never reaches the polling timeout; the vendor campaign covers that crash point. No run of the
 * campaign is old enough for the archive; `npm run drill -- retention` covers that one.
 */
const CRASH_POINTS_OF_OTHERS: CrashPoint[] = ["given_up", "archive_written"];
const CAMPAIGN_CRASH_POINTS = CRASH_POINTS.filter(
  (point) => !CRASH_POINTS_OF_OTHERS.includes(point) && (onlyPoint === undefined || onlyPoint === point),
);
const PROCESS_OF_CRASH_POINT: Partial<Record<CrashPoint, ProcessName>> = {
  request_read: "api",
  committed: "api",
  answering: "api",
};

/** The process exits exactly at the crash point, for each class of vendor. */
export async function killsAtCrashPoints(rounds: number, log: Log): Promise<CampaignReport> {
  const environment = await startChaosEnvironment({ roles: "split", env: CHAOS_ENV });
  const posted: PostedRun[] = [];
  const missed: string[] = [];
  try {
    // The responses are lost, and the callbacks come after Gesso has noticed it.
    for (const each of ["A", "B", "C"] as const)
      posted.push(await postRun(environment, { class: each, prompt: "[sandbox:drop=1,delay=15] lost response" }));
    await pause(5000);
    for (const moment of CAMPAIGN_CRASH_POINTS) {
      for (let round = 0; round < rounds; round++) {
        const place = PROCESS_OF_CRASH_POINT[moment] ?? "worker";
        await environment.kill(place);
        // Runs of earlier rounds may reach the crash point while the process starts; then it is started again.
        await environment.faults.during("start", () => environment.start(place, { CRASH_AT: moment }));
        const posting = Promise.all(
          RECOVERY_CLASSES.map((each) => postRun(environment, { class: each, prompt: `${moment} ${round}` })),
        );
        const died = await Promise.race([
          environment.waitForExit(place).then(() => true),
          pause(30_000).then(() => false),
        ]);
        if (died) environment.faults.addKill(moment);
        else missed.push(moment);
        if (!died) await environment.kill(place);
        await environment.start(place);
        posted.push(...(await posting));
      }
      log(`exited at ${moment}`);
    }
    if (onlyPoint === undefined) posted.push(...(await killsDuringSubmission(environment, rounds, log)));
    await waitUntilAllEnded(environment, 180);
    const findings = await checkInvariants(environment, posted, { hasLostResponses: onlyPoint === undefined });
    findings.push({
      invariant: "every crash point was hit",
      passed: missed.length === 0,
      observed: `missed: ${missed.join(", ") || "none"}`,
    });
    return {
      name: `kills aimed at ${CAMPAIGN_CRASH_POINTS.length + 2} moments`,
      results: findings,
      notes: [],
      counts: { runs: posted.length, kills: environment.faults.killCount() },
    };
  } finally {
    await environment.stop();
  }
}

/** Sent without a response: before the vendor has accepted the job, and after. */
async function killsDuringSubmission(environment: ChaosEnvironment, rounds: number, log: Log): Promise<PostedRun[]> {
  const posted: PostedRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const at of [500, 1500]) {
      environment.openai.switches.responseMs = 2000;
      const posts = await Promise.all(
        RECOVERY_CLASSES.map((each) =>
          postRun(environment, { class: each, prompt: `[sandbox:accept_delay=2] sent ${round} ${at}` }),
        ),
      );
      posted.push(...posts);
      await waitForAttempts(environment, posts);
      await pause(at);
      await environment.killAndRestart("worker");
      log(`killed ${at} ms into a call of 2 s`);
    }
  }
  return posted;
}

export async function waitForAttempts(environment: TestEnvironment, posts: PostedRun[]): Promise<void> {
  for (;;) {
    const [row] = await environment.query<{ count: number }>(
      "select count(*)::int from attempts where run_id = any($1::uuid[])",
      [posts.map((post) => post.run_id)],
    );
    if (row!.count === posts.length) return;
    await pause(20);
  }
}

/** The engine loses its disk while runs are in progress: all runs continue from PostgreSQL. */
export async function lostEngineJournal(runs: number, log: Log): Promise<CampaignReport> {
  const environment = await startChaosEnvironment({ roles: "split", env: CHAOS_ENV });
  try {
    const posted = await Promise.all(
      Array.from({ length: runs }, (_, index) =>
        postRun(environment, {
          class: (["A", "B", "C"] as const)[index % 3]!,
          prompt: `[sandbox:delay=${20 + (index % 5)}] memory ${index}`,
        }),
      ),
    );
    await pause(1500);
    const open = await countOpenRuns(environment);
    await environment.kill("restate");
    await rm(environment.restateDir, { recursive: true, force: true });
    const start = Date.now();
    await environment.start("restate");
    const staleInvocations = await startStaleInvocations(environment, runs);
    await waitUntilAllEnded(environment, 180);
    log(`${open} open when the engine lost its journal; all ended ${((Date.now() - start) / 1000).toFixed(1)} s after`);
    const findings = await checkInvariants(environment, posted);
    findings.push(staleInvocations, {
      invariant: "the runs were really in flight",
      passed: open === runs,
      observed: `${open} of ${runs}`,
    });
    return {
      name: `the engine's journal deleted with ${runs} runs in flight`,
      results: findings,
      notes: [],
      counts: { runs: posted.length, kills: environment.faults.killCount() },
    };
  } finally {
    await environment.stop();
  }
}

/**
 * A dispatcher that was stopped for a while starts runs under an epoch that has passed. Such an invocation must end
 * without doing anything, while the run goes on under its current epoch.
 */
async function startStaleInvocations(environment: ChaosEnvironment, runs: number): Promise<CheckResult> {
  const claims = await waitForNextEpoch(environment, runs);
  const ids: string[] = [];
  for (const claim of claims) {
    const stale = { ...claim, epoch: claim.epoch - 1 };
    const response = await fetch(`${environment.ingressUrl}/Run/run/send`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `${stale.run_id}#${stale.epoch}` },
      body: JSON.stringify(stale),
    });
    ids.push(((await response.json()) as { invocationId: string }).invocationId);
  }
  const list = ids.map((id) => `'${id}'`).join(",");
  let unfinished = ids.length;
  for (const until = Date.now() + 10_000; unfinished > 0 && Date.now() < until; await pause(500)) {
    const query = `select id from sys_invocation where id in (${list}) and status <> 'completed'`;
    unfinished = (await queryEngine(environment, query)).length;
  }
  return {
    invariant: "an invocation of an earlier epoch ends at once and changes nothing",
    passed: unfinished === 0 && ids.length > 0,
    observed: `${ids.length} started, ${unfinished} still open`,
  };
}

type OpenClaim = { run_id: string; tenant_id: string; epoch: number };

/** Waits until every open run has been started again under a later epoch. */
async function waitForNextEpoch(environment: TestEnvironment, runs: number): Promise<OpenClaim[]> {
  for (const until = Date.now() + 30_000; ; await pause(300)) {
    const claims = await environment.query<OpenClaim>(
      "select run_id, tenant_id, epoch from open_runs where epoch > 0 and claim_expires_at is not null",
    );
    if (claims.length >= runs || Date.now() > until) return claims;
  }
}
