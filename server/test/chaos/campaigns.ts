// The campaigns: random kills, kills aimed at each named moment, the engine's memory deleted, and a node of a cluster killed
// under load. Each ends with the books compared.
import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { MOMENTS, type Moment } from "../../src/observe/moments.ts";
import type { Report, Say } from "../campaign.ts";
import type { Place, World } from "../world.ts";
import { compareBooks } from "./books.ts";
import { type Kills, killUntil, total } from "./killer.ts";
import {
  awaitAllEnded,
  CLASSES,
  type Class,
  type Order,
  openCount,
  type Posted,
  postRun,
  postSteadily,
  postWhile,
} from "./load.ts";
import { startPaidWorld } from "./money.ts";

const ENV = { SUBMIT_SECONDS: "8", UNKNOWN_SECONDS: "25", LOOKUP_GRACE_SECONDS: "2", RUN_DEADLINE_SECONDS: "300" };
const classes = Object.keys(CLASSES) as Class[];

/**
 * Vendor calls of 0.2 s and of 3 s; a run at the vendor lasts a moment more. In a short campaign chance alone may leave a
 * class without a lost answer, so there the vendor itself drops a few, of every class.
 */
const orders = (count: number, mayDrop: boolean): Order[] =>
  Array.from({ length: count }, (_, index) => {
    const drop = mayDrop && index % 15 < classes.length ? ",drop" : "";
    return {
      class: classes[index % classes.length]!,
      prompt: `[sandbox:accept_delay=${index % 2 ? 3 : 0.2},delay=${(index % 5) * 0.4}${drop}] chaos ${index}`,
    };
  });

export async function randomKills(
  size: { runs: number; kills: number; deep: number; mayDrop: boolean },
  say: Say,
): Promise<Report> {
  const world = await startPaidWorld({ roles: "split", secondWorker: true, env: ENV });
  try {
    const seconds = size.kills * 3;
    const loading = postSteadily(world, orders(size.runs, size.mayDrop), Math.max(2, size.runs / seconds));
    let posted: Posted[] | undefined;
    loading.then((done) => {
      posted = done;
    }, say);
    const enough = (kills: Kills) =>
      total(kills) >= size.kills && kills.postgres + kills.restate >= size.deep && posted !== undefined;
    const kills = await killUntil(world, enough, say);
    await awaitAllEnded(world, 180);
    const findings = await compareBooks(world, await loading, true);
    return {
      name: `${size.runs} runs, ${total(kills)} kills at random`,
      findings,
      notes: [`kills: ${JSON.stringify(kills)}`],
    };
  } finally {
    await world.stop();
  }
}

/** A vendor that calls back is never given up in time; the campaign over vendors sees to that moment. */
const AIMED = MOMENTS.filter((moment) => moment !== "given_up");
const PLACE_OF: Partial<Record<Moment, Place>> = { request_read: "api", committed: "api", answering: "api" };

/** The process dies by itself exactly there, for each class of vendor. */
export async function aimedKills(rounds: number, say: Say): Promise<Report> {
  const world = await startPaidWorld({ roles: "split", env: ENV });
  const posted: Posted[] = [];
  const missed: string[] = [];
  try {
    for (const moment of AIMED) {
      for (let round = 0; round < rounds; round++) {
        const place = PLACE_OF[moment] ?? "worker";
        await world.kill(place);
        await world.start(place, { CRASH_AT: moment });
        const posting = Promise.all(
          classes.map((each) => postRun(world, { class: each, prompt: `${moment} ${round}` })),
        );
        const died = await Promise.race([world.gone(place).then(() => true), pause(15_000).then(() => false)]);
        if (!died) missed.push(moment);
        if (!died) await world.kill(place);
        await world.start(place);
        posted.push(...(await posting));
      }
      say(`died at ${moment}`);
    }
    posted.push(...(await killDuringCalls(world, rounds, say)));
    await awaitAllEnded(world, 120);
    const findings = await compareBooks(world, posted, true);
    findings.push({
      promise: "every named moment was hit",
      holds: missed.length === 0,
      saw: `missed: ${missed.join(", ") || "none"}`,
    });
    return { name: `kills aimed at ${AIMED.length + 2} moments`, findings, notes: [] };
  } finally {
    await world.stop();
  }
}

/** Sent and not answered: before the vendor has taken the job, and after. */
async function killDuringCalls(world: World, rounds: number, say: Say): Promise<Posted[]> {
  const posted: Posted[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const at of [500, 1500]) {
      const posts = await Promise.all(
        classes.map((each) => postRun(world, { class: each, prompt: `[sandbox:accept_delay=2] sent ${round} ${at}` })),
      );
      posted.push(...posts);
      await intentsOf(world, posts);
      await pause(at);
      await world.bounce("worker");
      say(`died ${at} ms into a call of 2 s`);
    }
  }
  return posted;
}

async function intentsOf(world: World, posts: Posted[]): Promise<void> {
  for (;;) {
    const [row] = await world.query<{ count: number }>(
      "select count(*)::int from attempts where run_id = any($1::uuid[])",
      [posts.map((post) => post.run_id)],
    );
    if (row!.count === posts.length) return;
    await pause(20);
  }
}

/** The engine's disk is gone while runs are under way: everything goes on from PostgreSQL. */
export async function lostMemory(runs: number, say: Say): Promise<Report> {
  const world = await startPaidWorld({ roles: "split", env: ENV });
  try {
    const posted = await Promise.all(
      Array.from({ length: runs }, (_, index) =>
        postRun(world, { class: classes[index % 3]!, prompt: `[sandbox:delay=${4 + (index % 5)}] memory ${index}` }),
      ),
    );
    await pause(1500);
    const open = await openCount(world);
    await world.kill("restate");
    await rm(world.restateDir, { recursive: true, force: true });
    const start = Date.now();
    await world.start("restate");
    await awaitAllEnded(world, 120);
    say(`${open} open when the engine lost its memory; all ended ${((Date.now() - start) / 1000).toFixed(1)} s after`);
    const findings = await compareBooks(world, posted, false);
    findings.push({ promise: "the runs were really in flight", holds: open === runs, saw: `${open} of ${runs}` });
    return { name: `the engine's memory deleted with ${runs} runs in flight`, findings, notes: [] };
  } finally {
    await world.stop();
  }
}

/** One node of three is killed under load, twice: how long does nothing end? */
export async function clusterLoss(size: { perSecond: number; watchSeconds: number }, say: Say): Promise<Report> {
  const world = await startPaidWorld({ roles: "split", cluster: true, env: ENV });
  try {
    let isOver = false;
    const loading = postWhile(
      world,
      () => !isOver,
      size.perSecond,
      (index) => ({
        class: classes[index % 3]!,
        prompt: `[sandbox:delay=0.3] cluster ${index}`,
      }),
    );
    await pause(3000);
    const before = await longestStall(world, size.watchSeconds * 1000);
    const stalls: number[] = [];
    for (const node of [1, 2]) {
      await world.cluster!.nodes[node]!.kill("SIGKILL");
      stalls.push(await longestStall(world, size.watchSeconds * 1000));
      say(`node ${node + 1} killed: nothing ended for ${seconds(stalls.at(-1)!)} at most`);
      await world.cluster!.start(node);
      await pause(3000);
    }
    isOver = true;
    const posted = await loading;
    await awaitAllEnded(world, 120);
    const findings = await compareBooks(world, posted, false);
    const saw = `${stalls.map(seconds).join(", ")}; without a kill ${seconds(before)}`;
    findings.push({ promise: "nothing stalls for 5 s", holds: stalls.every((ms) => ms < 5000), saw });
    return { name: `${posted.length} runs on three nodes, one killed twice`, findings, notes: [] };
  } finally {
    await world.stop();
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function longestStall(world: World, watchMs: number): Promise<number> {
  const until = Date.now() + watchMs;
  let last = Date.now();
  let longest = 0;
  let before = -1;
  while (Date.now() < until) {
    const [row] = await world.query<{ count: number }>("select count(*)::int from runs where finished_at is not null");
    if (row!.count !== before) {
      before = row!.count;
      last = Date.now();
    }
    longest = Math.max(longest, Date.now() - last);
    await pause(50);
  }
  return longest;
}
