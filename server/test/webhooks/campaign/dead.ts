// A receiver that never answers, with thousands of events waiting for it, beside one that does: the live one notices
// nothing. The waiting events are written into the log as ended runs write them; what the live one is told of is real.
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../../bench/whole.ts";
import type { Finding, Report, Say } from "../../campaign.ts";
import type { World } from "../../world.ts";
import { startWorld } from "../../world.ts";
import { type Receiver, startReceiver, webhookEnv } from "../receiver.ts";
import { atLeast } from "./findings.ts";

type Size = { waiting: number; live: number };

const PER_SECOND = 5;
const MOST_SECONDS = 5;
const MOST_PER_SECOND = 20;
const TENANT = "00000000-0000-7000-8000-000000000001";

export async function deadReceiver(size: Size, say: Say): Promise<Report> {
  const [dead, live] = [await startReceiver(), await startReceiver()];
  dead.answer(() => "hang");
  const world = await startWorld({ env: webhookEnv(dead, live) });
  try {
    const before = await latencies(world, live, Math.ceil(size.live / 4), "before");
    say(`live receiver alone: ${figures(before)}`);
    await writeEnded(world, `${dead.url}/dead`, size.waiting);
    await untilWaiting(world, size.waiting);
    say(`${size.waiting} events wait for the dead receiver`);
    const beside = await latencies(world, live, size.live, "beside");
    const waiting = await countWaiting(world, dead);
    const findings: Finding[] = [
      atLeast("the dead receiver's events were waiting all the time", Math.floor(size.waiting * 0.9), waiting),
      atLeast("every event of the live receiver arrived", size.live, beside.length),
      {
        promise: `from the end of a run to the live receiver p99 is under ${MOST_SECONDS} s`,
        holds: percentile(beside, 0.99) < MOST_SECONDS * 1000,
        saw: figures(beside),
      },
      atLeast("the dead receiver was tried until it was left alone", 10, dead.received.length),
      {
        promise: `the dead receiver was never sent more than ${MOST_PER_SECOND} and one second's worth in a second`,
        holds: busiest(dead) <= MOST_PER_SECOND * 2,
        saw: `${busiest(dead)} in the busiest second, ${dead.received.length} in all`,
      },
    ];
    return {
      name: `${size.live} events to a live receiver beside ${size.waiting} for a dead one`,
      findings,
      notes: [`alone: ${figures(before)}`, `beside the dead one: ${figures(beside)}`],
    };
  } finally {
    await world.stop();
    await Promise.all([dead.close(), live.close()]);
  }
}

const figures = (values: number[]) =>
  `p50 ${Math.round(percentile(values, 0.5))} ms, p99 ${Math.round(percentile(values, 0.99))} ms, of ${values.length}`;

/** Real runs that end at once, at a steady rate; from the moment that they ended to the moment that somebody was told. */
async function latencies(world: World, receiver: Receiver, count: number, word: string): Promise<number[]> {
  const runs: Promise<string>[] = [];
  for (let n = 0; n < count; n++) {
    runs.push(post(world, `${receiver.url}/${word}`));
    await pause(1000 / PER_SECOND);
  }
  const ids = new Set(await Promise.all(runs));
  const messages = await receiver.got(count, ({ event }) => ids.has(event.data.run_id), 120);
  const ended = await world.query<{ run_id: string; ms: number }>(
    "select run_id, extract(epoch from finished_at) * 1000 as ms from runs where run_id = any($1::uuid[])",
    [[...ids]],
  );
  const endOf = new Map(ended.map(({ run_id, ms }) => [run_id, Number(ms)]));
  return messages.map(({ at, event }) => at - endOf.get(event.data.run_id)!);
}

async function post(world: World, webhook_url: string): Promise<string> {
  const answer = await fetch(`${world.url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "x", width: 64, height: 64, webhook_url }),
  });
  return ((await answer.json()) as { run_id: string }).run_id;
}

/** Runs that have failed, each with the event of its end, as the statement that ends a run leaves them. */
async function writeEnded(world: World, url: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    await world.query(
      `with made as (
         insert into runs (run_id, tenant_id, user_id, operation, run_type, status, root_run_id, inputs, plan, webhook_url,
           error, started_at, finished_at)
         select id, $1, 'owner', 'images.generate', 'generation', 'failed', id, '{}', '[]', $2,
           '{"message": "x", "code": "provider_error", "details": {}}', now(), now()
         from (select (left(uuid_floor(now())::text, 15) || substr(gen_random_uuid()::text, 16))::uuid as id
               from generate_series(1, $3)) as ids
         returning run_id, tenant_id
       )
       insert into events (run_id, event_id, tenant_id, type, terminal)
       select run_id, gen_random_uuid(), tenant_id, 'run.failed', true from made`,
      [TENANT, url, Math.min(1000, left)],
    );
  }
}

async function untilWaiting(world: World, wanted: number): Promise<void> {
  const until = Date.now() + 120_000;
  for (;;) {
    const [row] = await world.query<{ count: number }>("select count(*)::int as count from webhook_deliveries");
    if (row!.count >= wanted || Date.now() > until) return;
    await pause(200);
  }
}

async function countWaiting(world: World, { port }: Receiver): Promise<number> {
  const [row] = await world.query<{ count: number }>(
    "select count(*)::int as count from open_deliveries where destination like '%:' || $1",
    [port],
  );
  return row!.count;
}

function busiest({ received }: Receiver): number {
  const counts = received.map(({ at }) => received.filter((other) => other.at >= at && other.at < at + 1000).length);
  return Math.max(0, ...counts);
}
