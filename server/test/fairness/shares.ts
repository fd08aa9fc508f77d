// One tenant floods the queue while another comes now and then; and two flood it with unequal weights. What is measured is
// in the database: when a run was accepted and when it began.
import { percentile } from "../bench/whole.ts";
import type { Report } from "../campaign.ts";
import { newTenant } from "../tenants.ts";
import { startWorld, type World } from "../world.ts";
import { flood, ORDER, speaker, steadily, until } from "./traffic.ts";

const NEARLY = 0.05;
const STANDING = 0.75;

/** `mostSeconds`: a short campaign on a busy machine is not timed as closely as a long one. */
export type FloodSize = { runs: number; seconds: number; perSecond: number; mostSeconds: number };

export async function floodBeside(size: FloodSize): Promise<Report> {
  const world = await startWorld({ roles: "split", secondWorker: true, env: { LOG_LEVEL: "error" } });
  try {
    const [loud, quiet] = [await newTenant(world), await newTenant(world)];
    const comeNowAndThen = async () => {
      const say = speaker({ url: world.url, key: quiet.key });
      const answers = await steadily(size.perSecond, size.seconds, () => say("POST", "/runs/generate", ORDER));
      return waitsOf(
        world,
        answers.map(({ body }) => body.run_id),
      );
    };
    await flood({ url: world.url, key: quiet.key }, 20, 4);
    const alone = await comeNowAndThen();
    // Most of it stands there before anybody works on it, so that the queue outlasts the measurement; the rest comes while
    // the quiet one does.
    await Promise.all([world.leave("worker"), world.leave("worker2")]);
    await flood({ url: world.url, key: loud.key }, size.runs * STANDING, 24);
    await Promise.all([world.start("worker"), world.start("worker2")]);
    const flooding = flood({ url: world.url, key: loud.key }, size.runs * (1 - STANDING), 24);
    const beside = await comeNowAndThen();
    const left = await waiting(world, loud.tenant_id);
    await flooding.catch(() => {});
    const [own] = await world.query<{ longest: number }>(
      "select max(extract(epoch from started_at - created_at))::float as longest from runs where tenant_id = $1",
      [loud.tenant_id],
    );
    const p99 = percentile(beside, 0.99);
    return {
      name: `${size.runs} runs of one tenant, ${size.perSecond} a second of another`,
      notes: [
        `accept to start of the quiet one, alone:           ${spread(alone)}`,
        `accept to start of the quiet one, beside the flood: ${spread(beside)}`,
        `the flood waited up to ${own!.longest.toFixed(1)} s; ${left} of it were still queued when the quiet one had ended`,
      ],
      findings: [
        { promise: "the quiet one was measured while the other had a queue", holds: left > 0, saw: `${left} queued` },
        {
          promise: `the quiet one begins within ${size.mostSeconds} s, p99`,
          holds: p99 < size.mostSeconds,
          saw: `${(p99 * 1000).toFixed(0)} ms of ${beside.length}`,
        },
      ],
    };
  } finally {
    await world.stop();
  }
}

export async function unequalShares({ runs }: { runs: number }): Promise<Report> {
  const world = await startWorld({ roles: "split", secondWorker: true, env: { LOG_LEVEL: "error" } });
  try {
    const heavy = await newTenant(world, { tenant: { weight: 3 } });
    const light = await newTenant(world);
    // Both queues are there before anybody works on them.
    await Promise.all([world.leave("worker"), world.leave("worker2")]);
    await flood({ url: world.url, key: heavy.key }, runs, 24);
    await flood({ url: world.url, key: light.key }, runs, 24);
    await Promise.all([world.start("worker"), world.start("worker2")]);
    await until(async () => (await begun(world, heavy.tenant_id)) >= runs / 2, 300);
    const [ofHeavy, ofLight] = await shareOf(world, [heavy.tenant_id, light.tenant_id]);
    const ratio = ofHeavy / ofLight;
    return {
      name: `two tenants with ${runs} runs each, weights 3 and 1, two workers`,
      notes: [],
      findings: [
        {
          promise: "they get 3 to 1 of what there is, within 5 %",
          holds: Math.abs(ratio / 3 - 1) <= NEARLY,
          saw: `${ofHeavy} to ${ofLight}, ${ratio.toFixed(3)} to 1`,
        },
      ],
    };
  } finally {
    await world.stop();
  }
}

/** Both at the same moment, and only while both still have a queue. */
async function shareOf(world: World, tenants: string[]): Promise<[number, number]> {
  const rows = await world.query<{ tenant_id: string; count: number }>(
    "select tenant_id, count(*)::int from runs where started_at is not null and tenant_id = any($1) group by 1",
    [tenants],
  );
  const of = (id: string) => rows.find((row) => row.tenant_id === id)?.count ?? 0;
  return [of(tenants[0]!), of(tenants[1]!)];
}

const countOf = async (world: World, text: string, tenantId: string) => {
  const [row] = await world.query<{ count: number }>(text, [tenantId]);
  return row!.count;
};
const waiting = (world: World, tenantId: string) =>
  countOf(world, "select count(*)::int from open_runs where tenant_id = $1 and dispatched_at is null", tenantId);
const begun = (world: World, tenantId: string) =>
  countOf(world, "select count(*)::int from runs where tenant_id = $1 and started_at is not null", tenantId);

/** Seconds from acceptance to the beginning, for each. */
async function waitsOf(world: World, runIds: string[]): Promise<number[]> {
  const read = () =>
    world.query<{ seconds: number | null }>(
      "select extract(epoch from started_at - created_at)::float as seconds from runs where run_id = any($1)",
      [runIds],
    );
  await until(async () => (await read()).every(({ seconds }) => seconds !== null), 120);
  return (await read()).map(({ seconds }) => seconds!);
}

const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
const spread = (values: number[]) =>
  `p50 ${ms(percentile(values, 0.5))}, p90 ${ms(percentile(values, 0.9))}, p99 ${ms(percentile(values, 0.99))}, longest ${ms(Math.max(...values))} (${values.length} runs)`;
