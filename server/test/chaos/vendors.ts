// The kill campaign over vendors of every kind: a queue with callbacks, one that can be searched, our own machines, one that
// answers only when the picture is there, and one that can only be asked. Each vendor's own ledger is the judge.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Finding, Report, Say } from "../campaign.ts";
import { comfyui } from "../vendors/comfyui.ts";
import { fal } from "../vendors/fal.ts";
import { openai } from "../vendors/openai.ts";
import { replicate } from "../vendors/replicate.ts";
import { runway } from "../vendors/runway.ts";
import type { StandIn, VendorKit } from "../vendors/stand-in.ts";
import { startWorld, type World } from "../world.ts";
import { awaitAllEnded } from "./load.ts";
import { bookFindings } from "./money.ts";

/** What each vendor is asked for. With these five switched on, each of these goes to that vendor first. */
const ORDERS: { kit: VendorKit; recovery: "find" | "none"; path: string; body: Record<string, unknown> }[] = [
  { kit: fal, recovery: "none", path: "/runs/generate", body: { model_type: "flux-dev", width: 256, height: 256 } },
  { kit: replicate, recovery: "find", path: "/runs/generate", body: { model_type: "flux-kontext-max" } },
  {
    kit: comfyui,
    recovery: "find",
    path: "/runs/generate",
    body: { model_type: "qwen-image-edit", width: 256, height: 256 },
  },
  { kit: openai, recovery: "none", path: "/runs/generate", body: { model_type: "vendora" } },
  { kit: runway, recovery: "none", path: "/runs/reference", body: { aspect_ratio: "1:1" } },
];
const ENV = {
  SUBMIT_SECONDS: "8",
  UNKNOWN_SECONDS: "20",
  LOOKUP_GRACE_SECONDS: "2",
  RUN_DEADLINE_SECONDS: "240",
  PUBLIC_URL_IS_REACHABLE: "true",
  // Here every vendor is in trouble all the time: what is looked at is doubt, and not who stands in.
  BREAKER_FAILURES: "100000",
};
/** M5: intent written. M6: sent, no answer. M7: answer read, or not waited for any longer. M8: waiting, and what comes after. */
const MOMENTS = ["intent_written", "answer_read", "given_up", "result_read", "file_stored"] as const;
/** These lose the first answer, so that there is something to give up. */
const GIVEN_UP = [openai.id, runway.id];

type Posted = { run_id: string; vendor: string; word: string };
type Street = { world: World; standIns: Map<string, StandIn>; posted: Posted[] };

export async function vendorKills(runs: number, say: Say): Promise<Report> {
  const standIns = new Map<string, StandIn>();
  for (const { kit } of ORDERS) standIns.set(kit.id, await kit.start());
  const env = Object.assign({}, ...ORDERS.map(({ kit }) => kit.env(standIns.get(kit.id)!)), ENV);
  const world = await startWorld({ roles: "split", env });
  const street: Street = { world, standIns, posted: [] };
  try {
    const aimed = await aimAtMoments(street, Math.ceil(runs / 3 / (MOMENTS.length * ORDERS.length)), say);
    const kills = await killUnderLoad(street, runs - street.posted.length, say);
    await awaitAllEnded(world, 150);
    return {
      name: `${street.posted.length} runs at five vendors, ${aimed} kills at M5 to M8 and ${kills} at random`,
      findings: await compareLedgers(street),
      notes: [],
    };
  } finally {
    await world.stop();
    for (const standIn of standIns.values()) await standIn.close();
  }
}

async function post({ world, posted }: Street, order: (typeof ORDERS)[number]): Promise<void> {
  const word = `w${randomUUID().replaceAll("-", "")}`;
  const key = randomUUID();
  for (const until = Date.now() + 60_000; ; await pause(200)) {
    const response = await fetch(`${world.url}/api/v1${order.path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ prompt: `a picture of ${word}`, ...order.body }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (response && response.status < 300) {
      const answer = (await response.json()) as { run_id?: string; data?: { run_id: string } };
      posted.push({ run_id: (answer.run_id ?? answer.data?.run_id)!, vendor: order.kit.id, word });
      return;
    }
    if (response && response.status < 500) throw new Error(`refused: ${await response.text()}`);
    if (Date.now() > until) throw new Error("the API did not take the run in time");
  }
}

/** The worker dies by itself exactly there, with a run of each vendor under way. */
async function aimAtMoments(street: Street, rounds: number, say: Say): Promise<number> {
  let kills = 0;
  for (const moment of MOMENTS) {
    for (let round = 0; round < rounds; round++) {
      // One vendor after the other comes first to the moment, so that each of them is hit.
      const order = [...ORDERS.slice(round % ORDERS.length), ...ORDERS.slice(0, round % ORDERS.length)];
      await street.world.kill("worker");
      await street.world.start("worker", { CRASH_AT: moment });
      for (const each of order) {
        const { switches } = street.standIns.get(each.kit.id)!;
        if (moment === "given_up" && GIVEN_UP.includes(each.kit.id)) switches.drop = { times: 1, when: "after" };
        await post(street, each);
      }
      const died = await Promise.race([street.world.gone("worker").then(() => true), pause(15_000).then(() => false)]);
      if (died) kills++;
      else await street.world.kill("worker");
      await street.world.start("worker");
    }
    say(`died at ${moment}, ${rounds} times`);
  }
  return kills;
}

/** Answers take a while, some lines are cut after the job was taken, and the worker is killed again and again (M6, M8). */
async function killUnderLoad(street: Street, runs: number, say: Say): Promise<number> {
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      await pause(1200 + Math.random() * 1500);
      await street.world.bounce("worker");
      kills++;
    }
  })();
  for (let n = 0; n < runs; n++) {
    const order = ORDERS[n % ORDERS.length]!;
    const { switches } = street.standIns.get(order.kit.id)!;
    switches.answerMs = 200 + (n % 3) * 400;
    switches.workMs = 100 + (n % 4) * 300;
    if (n % 15 < ORDERS.length) switches.drop = { times: 1, when: "after" };
    await post(street, order);
    await pause(60);
  }
  isOver = true;
  await killing;
  say(`killed ${kills} times under load`);
  return kills;
}

type Book = { run_id: string; status: string; code: string | null; cost: unknown; unknowns: number };

async function compareLedgers({ world, standIns, posted }: Street): Promise<Finding[]> {
  const rows = await world.query<Book>(
    `select run_id, status, error->>'code' as code, cost,
       (select count(*)::int from attempts a where a.run_id = runs.run_id and unknown_since is not null) as unknowns
     from runs where run_id = any($1::uuid[])`,
    [posted.map(({ run_id }) => run_id)],
  );
  const books = new Map(rows.map((row) => [row.run_id, row]));
  const everyJob = [...standIns.values()].flatMap(({ ledger }) => ledger.map(({ request }) => JSON.stringify(request)));
  const jobsOf = ({ word }: Posted) => everyJob.filter((request) => request.includes(word)).length;
  const findings: Finding[] = [];
  for (const { kit, recovery } of ORDERS) {
    const mine = posted.filter(({ vendor }) => vendor === kit.id);
    const ended = (status: string) => mine.filter(({ run_id }) => books.get(run_id)?.status === status);
    const failed = ended("failed").map(({ run_id }) => books.get(run_id)!);
    const unknown = failed.filter(({ code }) => code === "provider_outcome_unknown");
    const twice = mine.filter((each) => jobsOf(each) > 1);
    const unpaid = ended("completed").filter((each) => jobsOf(each) !== 1);
    const saw = `${mine.length} runs: ${ended("completed").length} completed, ${unknown.length} unknown, ${failed.length - unknown.length} failed otherwise ${JSON.stringify(failed.filter((each) => !unknown.includes(each)).slice(0, 2))}, ${twice.length} twice`;
    findings.push({
      promise: `${kit.id}: no run was submitted twice, and every completed one was made by one job`,
      holds: twice.length === 0 && unpaid.length === 0,
      saw,
    });
    findings.push({
      promise:
        recovery === "find"
          ? `${kit.id}: every run was found again and completed`
          : `${kit.id}: every run completed, or ended as unknown where nobody could be asked`,
      holds: ended("completed").length + (recovery === "find" ? 0 : unknown.length) === mine.length,
      saw: `${ended("completed").length} and ${unknown.length} of ${mine.length}`,
    });
    findings.push({
      promise: `${kit.id}: what is unknown is recorded as such and billed to nobody`,
      holds: unknown.every(({ cost, unknowns }) => cost === null && unknowns > 0),
      saw: `${unknown.length} unknown`,
    });
  }
  return [...findings, ...(await bookFindings(world))];
}
