// A vendor that gets worse and worse: first it says 429, then 500, then nothing at all, and then it is well again. Its runs
// move to who may stand in and come back, none is made twice, and the models of other vendors do not notice.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Finding, Report, Say } from "../campaign.ts";
import { bfl } from "../vendors/bfl.ts";
import { fal } from "../vendors/fal.ts";
import { gemini } from "../vendors/gemini.ts";
import type { StandIn, Switches } from "../vendors/stand-in.ts";
import { startWorld, type World } from "../world.ts";
import { awaitAllEnded } from "./load.ts";
import { bookFindings } from "./money.ts";

type Posted = { run_id: string; word: string; model: string; phase: string };
type Row = { run_id: string; status: string; provider: string; code: string | null; cost: unknown; seconds: number };

const ENV = {
  SUBMIT_SECONDS: "4",
  UNKNOWN_SECONDS: "5",
  BREAKER_FAILURES: "3",
  BREAKER_SECONDS: "2",
  RUN_DEADLINE_SECONDS: "90",
  PUBLIC_URL_IS_REACHABLE: "true",
};
const ILL = "flux-dev";
const WELL = "nanobanana";
const MANY = 1_000_000;
const PHASES: { name: string; switches: Partial<Switches> }[] = [
  { name: "well", switches: {} },
  { name: "429", switches: { refuse: { times: MANY, status: 429, headers: { "retry-after": "1" } } } },
  { name: "500", switches: { refuse: { times: MANY, status: 500 } } },
  { name: "silent", switches: { refuse: undefined, hang: { times: MANY, when: "before" } } },
  { name: "well again", switches: { refuse: undefined, hang: undefined } },
];

export async function failingVendor(size: { seconds: number; isTimed: boolean }, say: Say): Promise<Report> {
  const [first, second, other] = [await fal.start(), await bfl.start(), await gemini.start()];
  const env = { ...fal.env(first), ...bfl.env(second), ...gemini.env(other), ...ENV };
  const world = await startWorld({ roles: "split", env });
  const posted: Posted[] = [];
  try {
    await load(world, posted, { phase: "warm", seconds: 3 });
    for (const { name, switches } of PHASES) {
      Object.assign(first.switches, structuredClone(switches));
      if (name === "well again") await healed(world);
      await load(world, posted, { phase: name, seconds: size.seconds });
      say(`fal is ${name}: ${await shut(world)} of its offers are left alone`);
    }
    await awaitAllEnded(world, 60);
    const findings = await judge(world, posted, [first, second, other], size.isTimed);
    return { name: `a vendor that fails in three ways under ${posted.length} runs`, findings, notes: [] };
  } finally {
    await world.stop();
    for (const standIn of [first, second, other]) await standIn.close();
  }
}

async function load(world: World, posted: Posted[], { phase, seconds }: { phase: string; seconds: number }) {
  const posts: Promise<void>[] = [];
  const until = Date.now() + seconds * 1000;
  for (let index = 0; Date.now() < until; index++) {
    posts.push(post(world, posted, { model: index % 4 === 0 ? ILL : WELL, phase }));
    await pause(80);
  }
  await Promise.all(posts);
}

async function post(world: World, posted: Posted[], { model, phase }: { model: string; phase: string }): Promise<void> {
  const word = `w${randomUUID().replaceAll("-", "")}`;
  const response = await fetch(`${world.url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: `a picture of ${word}`, model_type: model }),
  });
  const { run_id } = (await response.json()) as { run_id: string };
  posted.push({ run_id, word, model, phase });
}

const shut = async (world: World) =>
  (await world.query("select 1 from offer_health where provider = 'fal' and open_until is not null")).length;

/** One run after the other is tried until the vendor's offer is trusted again. */
async function healed(world: World): Promise<void> {
  const until = Date.now() + 60_000;
  for (const spare: Posted[] = []; (await shut(world)) > 0 && Date.now() < until; ) {
    await post(world, spare, { model: ILL, phase: "healing" });
    await pause(500);
  }
}

async function judge(world: World, posted: Posted[], standIns: StandIn[], isTimed: boolean): Promise<Finding[]> {
  const rows = await world.query<Row>(
    `select run_id, status, provider, error->>'code' as code, cost,
       extract(epoch from finished_at - created_at)::float as seconds from runs where run_id = any($1::uuid[])`,
    [posted.map(({ run_id }) => run_id)],
  );
  const books = new Map(rows.map((row) => [row.run_id, row]));
  const of = (model: string, ...phases: string[]) =>
    posted
      .filter((each) => each.model === model && phases.includes(each.phase))
      .map(({ run_id }) => books.get(run_id)!);
  const by = (provider: string, runs: Row[]) =>
    runs.filter((run) => run.status === "completed" && run.provider === provider);
  const jobs = standIns.flatMap(({ ledger }) => ledger.map(({ request }) => JSON.stringify(request)));
  const twice = posted.filter(({ word }) => jobs.filter((job) => job.includes(word)).length > 1);
  const ill = of(ILL, "429", "500", "silent");
  const lost = ill.filter(({ status }) => status !== "completed");
  const told = (runs: Row[]) => `fal ${by("fal", runs).length}, bfl ${by("bfl", runs).length} of ${runs.length}`;
  const [before, during] = [p99(of(WELL, "well")), p99(of(WELL, "429", "500", "silent"))];
  const timing = `${before.toFixed(2)} s before, ${during.toFixed(2)} s during: ${(during / before).toFixed(2)}×`;
  return [
    {
      promise: "while it is well, the preferred vendor makes them",
      holds: by("fal", of(ILL, "well")).length === of(ILL, "well").length,
      saw: told(of(ILL, "well")),
    },
    {
      promise: "with 429 every run is made by who stands in",
      holds: by("bfl", of(ILL, "429")).length === of(ILL, "429").length,
      saw: told(of(ILL, "429")),
    },
    {
      promise: "with 500 and silence the runs move as well; only trials are lost",
      holds: by("bfl", ill).length >= ill.length * 0.85,
      saw: told(ill),
    },
    {
      promise: "what is lost is unknown and costs nothing",
      holds: lost.every(({ code, cost }) => code === "provider_outcome_unknown" && cost === null),
      saw: `${lost.length} lost ${JSON.stringify(lost.filter(({ code }) => code !== "provider_outcome_unknown").slice(0, 2))}`,
    },
    { promise: "no run was made twice", holds: twice.length === 0, saw: `${twice.length} of ${posted.length}` },
    {
      promise: "when it is well again it gets its runs back",
      holds: by("fal", of(ILL, "well again")).length >= of(ILL, "well again").length * 0.9,
      saw: told(of(ILL, "well again")),
    },
    {
      promise: "other models go on",
      holds: of(WELL, ...PHASES.map(({ name }) => name)).every(({ status }) => status === "completed"),
      saw: "as told",
    },
    ...(isTimed
      ? [{ promise: "and their p99 stays within 1.5 times", holds: during <= before * 1.5, saw: timing }]
      : []),
    ...(await bookFindings(world)),
  ];
}

function p99(runs: Row[]): number {
  const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b);
  return seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * 0.99))] ?? Number.NaN;
}
