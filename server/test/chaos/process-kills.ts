// The campaigns: random kills, a kill at each crash point, deletion of the engine's journal, and the loss of a cluster
// node under load. Each ends with the invariant checks.
import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { CRASH_POINTS, type CrashPoint } from "../../src/observe/crash-points.ts";
import type { CampaignReport, Log } from "../support/campaign.ts";
import type { ProcessName, TestEnvironment } from "../support/test-environment.ts";
import { startPrepaidEnvironment } from "./check-charges.ts";
import { checkInvariants } from "./check-invariants.ts";
import { type KillCounts, killRandomly, sumKills } from "./random-kills.ts";
import {
  countOpenRuns,
  MODEL_BY_RECOVERY_CLASS,
  type PostedRun,
  postAtRate,
  postRun,
  postWhile,
  type RecoveryClass,
  type RunRequestSpec,
  waitUntilAllEnded,
} from "./run-load.ts";

const ENV = { SUBMIT_SECONDS: "8", UNKNOWN_SECONDS: "25", LOOKUP_GRACE_SECONDS: "2", RUN_DEADLINE_SECONDS: "300" };
const classes = Object.keys(MODEL_BY_RECOVERY_CLASS) as RecoveryClass[];

/**
 * Jobs of 0.2 s and of 3 s at the vendor. A short campaign may by chance lose no response of a class, so there the
 * vendor itself drops a few of every class.
 */
const createRunRequests = (count: number, mayDrop: boolean): RunRequestSpec[] =>
  Array.from({ length: count }, (_, index) => {
    const drop = mayDrop && index % 15 < classes.length ? ",drop" : "";
    return {
      class: classes[index % classes.length]!,
      prompt: `[sandbox:accept_delay=${index % 2 ? 3 : 0.2},delay=${(index % 5) * 0.4}${drop}] chaos ${index}`,
    };
  });

export async function randomKills(
  size: { runs: number; kills: number; deep: number; mayDrop: boolean },
  log: Log,
): Promise<CampaignReport> {
  const environment = await startPrepaidEnvironment({ roles: "split", secondWorker: true, env: ENV });
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
    const findings = await checkInvariants(environment, await loading, true);
    return {
      name: `${size.runs} runs, ${sumKills(kills)} kills at random`,
      results: findings,
      notes: [`kills: ${JSON.stringify(kills)}`],
    };
  } finally {
    await environment.stop();
  }
}

/** A vendor with callbacks never reaches the polling timeout; the vendor campaign covers that crash point. */
const CAMPAIGN_CRASH_POINTS = CRASH_POINTS.filter((moment) => moment !== "given_up");
const PROCESS_OF_CRASH_POINT: Partial<Record<CrashPoint, ProcessName>> = {
  request_read: "api",
  committed: "api",
  answering: "api",
};

/** The process exits exactly at the crash point, for each class of vendor. */
export async function killsAtCrashPoints(rounds: number, log: Log): Promise<CampaignReport> {
  const environment = await startPrepaidEnvironment({ roles: "split", env: ENV });
  const posted: PostedRun[] = [];
  const missed: string[] = [];
  try {
    for (const moment of CAMPAIGN_CRASH_POINTS) {
      for (let round = 0; round < rounds; round++) {
        const place = PROCESS_OF_CRASH_POINT[moment] ?? "worker";
        await environment.kill(place);
        await environment.start(place, { CRASH_AT: moment });
        const posting = Promise.all(
          classes.map((each) => postRun(environment, { class: each, prompt: `${moment} ${round}` })),
        );
        const died = await Promise.race([
          environment.waitForExit(place).then(() => true),
          pause(15_000).then(() => false),
        ]);
        if (!died) missed.push(moment);
        if (!died) await environment.kill(place);
        await environment.start(place);
        posted.push(...(await posting));
      }
      log(`exited at ${moment}`);
    }
    posted.push(...(await killsDuringSubmission(environment, rounds, log)));
    await waitUntilAllEnded(environment, 120);
    const findings = await checkInvariants(environment, posted, true);
    findings.push({
      invariant: "every crash point was hit",
      passed: missed.length === 0,
      observed: `missed: ${missed.join(", ") || "none"}`,
    });
    return { name: `kills aimed at ${CAMPAIGN_CRASH_POINTS.length + 2} moments`, results: findings, notes: [] };
  } finally {
    await environment.stop();
  }
}

/** Sent without a response: before the vendor has accepted the job, and after. */
async function killsDuringSubmission(environment: TestEnvironment, rounds: number, log: Log): Promise<PostedRun[]> {
  const posted: PostedRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const at of [500, 1500]) {
      const posts = await Promise.all(
        classes.map((each) =>
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

async function waitForAttempts(environment: TestEnvironment, posts: PostedRun[]): Promise<void> {
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
  const environment = await startPrepaidEnvironment({ roles: "split", env: ENV });
  try {
    const posted = await Promise.all(
      Array.from({ length: runs }, (_, index) =>
        postRun(environment, {
          class: classes[index % 3]!,
          prompt: `[sandbox:delay=${4 + (index % 5)}] memory ${index}`,
        }),
      ),
    );
    await pause(1500);
    const open = await countOpenRuns(environment);
    await environment.kill("restate");
    await rm(environment.restateDir, { recursive: true, force: true });
    const start = Date.now();
    await environment.start("restate");
    await waitUntilAllEnded(environment, 120);
    log(`${open} open when the engine lost its journal; all ended ${((Date.now() - start) / 1000).toFixed(1)} s after`);
    const findings = await checkInvariants(environment, posted, false);
    findings.push({
      invariant: "the runs were really in flight",
      passed: open === runs,
      observed: `${open} of ${runs}`,
    });
    return { name: `the engine's memory deleted with ${runs} runs in flight`, results: findings, notes: [] };
  } finally {
    await environment.stop();
  }
}

/** One node of three is killed under load, twice: how long does nothing end? */
export async function engineNodeLoss(
  size: { perSecond: number; watchSeconds: number },
  log: Log,
): Promise<CampaignReport> {
  const environment = await startPrepaidEnvironment({ roles: "split", cluster: true, env: ENV });
  try {
    let isOver = false;
    const loading = postWhile(
      environment,
      () => !isOver,
      size.perSecond,
      (index) => ({
        class: classes[index % 3]!,
        prompt: `[sandbox:delay=0.3] cluster ${index}`,
      }),
    );
    await pause(3000);
    const before = await longestStall(environment, size.watchSeconds * 1000);
    const stalls: number[] = [];
    for (const node of [1, 2]) {
      await environment.cluster!.nodes[node]!.kill("SIGKILL");
      stalls.push(await longestStall(environment, size.watchSeconds * 1000));
      log(`node ${node + 1} killed: nothing ended for ${seconds(stalls.at(-1)!)} at most`);
      await environment.cluster!.start(node);
      await pause(3000);
    }
    isOver = true;
    const posted = await loading;
    await waitUntilAllEnded(environment, 120);
    const findings = await checkInvariants(environment, posted, false);
    const observed = `${stalls.map(seconds).join(", ")}; without a kill ${seconds(before)}`;
    findings.push({ invariant: "nothing stalls for 5 s", passed: stalls.every((ms) => ms < 5000), observed });
    return { name: `${posted.length} runs on three nodes, one killed twice`, results: findings, notes: [] };
  } finally {
    await environment.stop();
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function longestStall(environment: TestEnvironment, watchMs: number): Promise<number> {
  const until = Date.now() + watchMs;
  let last = Date.now();
  let longest = 0;
  let before = -1;
  while (Date.now() < until) {
    const [row] = await environment.query<{ count: number }>(
      "select count(*)::int from runs where finished_at is not null",
    );
    if (row!.count !== before) {
      before = row!.count;
      last = Date.now();
    }
    longest = Math.max(longest, Date.now() - last);
    await pause(50);
  }
  return longest;
}
