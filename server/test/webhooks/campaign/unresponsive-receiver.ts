// Thousands of deliveries wait for a receiver that never responds. The latency of a healthy receiver must not change.
// The waiting events are inserted directly; those of the healthy receiver come from real runs.
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../../bench/full-service.ts";
import type { CampaignReport, CheckResult, Log } from "../../support/campaign.ts";
import type { TestEnvironment } from "../../support/test-environment.ts";
import { startTestEnvironment } from "../../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../receiver.ts";
import { expectAtLeast } from "./check-results.ts";

type Size = { waiting: number; live: number };

const PER_SECOND = 5;
const MOST_SECONDS = 5;
const MOST_PER_SECOND = 20;
const TENANT = "00000000-0000-7000-8000-000000000001";

export async function unresponsiveReceiverCampaign(size: Size, log: Log): Promise<CampaignReport> {
  const [dead, live] = [await startWebhookReceiver(), await startWebhookReceiver()];
  dead.respondWith(() => "hang");
  const environment = await startTestEnvironment({ env: webhookEnv(dead, live) });
  try {
    const before = await measureLatencies(environment, live, Math.ceil(size.live / 4), "before");
    log(`live receiver alone: ${formatLatencies(before)}`);
    await insertEndedRuns(environment, `${dead.url}/dead`, size.waiting);
    await untilWaiting(environment, size.waiting);
    log(`${size.waiting} events wait for the dead receiver`);
    const beside = await measureLatencies(environment, live, size.live, "beside");
    const waiting = await countWaiting(environment, dead);
    const findings: CheckResult[] = [
      expectAtLeast("events for the dead receiver were waiting all the time", Math.floor(size.waiting * 0.9), waiting),
      expectAtLeast("every event of the live receiver arrived", size.live, beside.length),
      {
        kind: "speed",
        invariant: `from the end of a run to the live receiver p99 is under ${MOST_SECONDS} s`,
        passed: percentile(beside, 0.99) < MOST_SECONDS * 1000,
        observed: formatLatencies(beside),
      },
      expectAtLeast("the dead receiver was tried until its webhook was disabled", 10, dead.received.length),
      {
        invariant: `the dead receiver was never sent more than ${MOST_PER_SECOND} and one second's worth in a second`,
        passed: maxPerSecond(dead) <= MOST_PER_SECOND * 2,
        observed: `${maxPerSecond(dead)} in the busiest second, ${dead.received.length} in all`,
      },
    ];
    return {
      name: `${size.live} events to a live receiver beside ${size.waiting} for a dead one`,
      results: findings,
      notes: [`alone: ${formatLatencies(before)}`, `beside the dead one: ${formatLatencies(beside)}`],
    };
  } finally {
    await environment.stop();
    await Promise.all([dead.close(), live.close()]);
  }
}

const formatLatencies = (values: number[]) =>
  `p50 ${Math.round(percentile(values, 0.5))} ms, p99 ${Math.round(percentile(values, 0.99))} ms, of ${values.length}`;

/** Real runs that end at once, at a steady rate; measures the time from their end to the delivery. */
async function measureLatencies(
  environment: TestEnvironment,
  receiver: WebhookReceiver,
  count: number,
  word: string,
): Promise<number[]> {
  const runs: Promise<string>[] = [];
  for (let n = 0; n < count; n++) {
    runs.push(post(environment, `${receiver.url}/${word}`));
    await pause(1000 / PER_SECOND);
  }
  const ids = new Set(await Promise.all(runs));
  const messages = await receiver.got(count, ({ event }) => ids.has(event.data.run_id), 120);
  const ended = await environment.query<{ run_id: string; ms: number }>(
    "select run_id, extract(epoch from finished_at) * 1000 as ms from runs where run_id = any($1::uuid[])",
    [[...ids]],
  );
  const endOf = new Map(ended.map(({ run_id, ms }) => [run_id, Number(ms)]));
  return messages.map(({ at, event }) => at - endOf.get(event.data.run_id)!);
}

async function post(environment: TestEnvironment, webhook_url: string): Promise<string> {
  const response = await fetch(`${environment.url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${environment.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "x", width: 64, height: 64, webhook_url }),
  });
  return ((await response.json()) as { run_id: string }).run_id;
}

/** Runs that have failed, each with the event of its end, as the statement that ends a run leaves them. */
async function insertEndedRuns(environment: TestEnvironment, url: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    await environment.query(
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

async function untilWaiting(environment: TestEnvironment, wanted: number): Promise<void> {
  const until = Date.now() + 120_000;
  for (;;) {
    const [row] = await environment.query<{ count: number }>("select count(*)::int as count from webhook_deliveries");
    if (row!.count >= wanted || Date.now() > until) return;
    await pause(200);
  }
}

async function countWaiting(environment: TestEnvironment, { port }: WebhookReceiver): Promise<number> {
  const [row] = await environment.query<{ count: number }>(
    "select count(*)::int as count from open_deliveries where destination like '%:' || $1",
    [port],
  );
  return row!.count;
}

function maxPerSecond({ received }: WebhookReceiver): number {
  const counts = received.map(({ at }) => received.filter((other) => other.at >= at && other.at < at + 1000).length);
  return Math.max(0, ...counts);
}
