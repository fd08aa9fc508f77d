// No event stops the fan-out: batches are bounded by bytes, and an event that cannot become deliveries is set aside.

import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFakeAssets } from "../../test/support/fake-assets.ts";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { connectDatabase } from "../db/connect.ts";
import { MAX_WEBHOOKS_PER_TENANT } from "../db/webhooks/endpoints.ts";
import { checkSetAsideEvents } from "../doctor/check-records.ts";
import { FetchEnv } from "../outbound/fetch-settings.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createFanOut } from "./fan-out.ts";
import { processReplays } from "./replay.ts";
import { retrySetAsideEvents } from "./set-aside-events.ts";
import { WebhookEnv } from "./settings.ts";
import { createWebhookService, type WebhookServices } from "./webhook-service.ts";

const [TENANT, OTHER] = [v7(), v7()];
const { log, messages } = createMemoryLog();
let database: TestDatabase;
let services: WebhookServices;
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
  const settings = { ...WebhookEnv.parse({}), ...FetchEnv.parse({}), PUBLIC_URL: "http://127.0.0.1:7788" };
  const service = createWebhookService(settings, () => [new Uint8Array(32)], systemClock);
  services = {
    ...createTestRuntime({ log }),
    ...service,
    database: database.db,
    assets: createFakeAssets("https://x/"),
  };
});
afterAll(async () => {
  await services?.httpClient.close();
  await database?.stop();
});

let statements = 0;
const query = <R>(text: string, values: unknown[] = []) =>
  database.owner.query<R>(`test.${++statements}`, text, values);

/** `metadata` is most of a message body. `result` without a list of outputs cannot be rendered. */
async function endedRuns(count: number, about: { tenant_id?: string; metadata?: object; result?: object } = {}) {
  const { tenant_id = TENANT, metadata = {}, result = { outputs: [] } } = about;
  const runs = await query<{ run_id: string }>(
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, root_run_id, inputs, plan, metadata, result,
       progress, started_at, finished_at)
     select id, $1, 'me', 'images.generate', 'generation', 'completed', id, '{}', '[]', $2, $3, 1, now(), now()
     from (select uuidv7() as id from generate_series(1, $4::int)) as ids returning run_id`,
    [tenant_id, metadata, result, count],
  );
  const ids = runs.map(({ run_id }) => run_id);
  await query(
    `insert into events (run_id, event_id, tenant_id, type, terminal)
     select id, uuidv7(), $2, 'run.completed', true from unnest($1::uuid[]) as id`,
    [ids, tenant_id],
  );
  return ids;
}
const hooks = (count: number, tenant_id = TENANT) =>
  query(
    `insert into webhook_endpoints (webhook_id, tenant_id, url, events)
     select uuidv7(), $1, 'https://example.com/' || n, '{run.completed}' from generate_series(1, $2::int) as n`,
    [tenant_id, count],
  );
/** Stops at an error like the duty, which calls again later, and gives up after `passes`. */
async function readLog(passes = 100): Promise<void> {
  const fanOut = createFanOut(services);
  for (let pass = 0; pass < passes; pass++) if ((await fanOut().catch(() => 1)) === 0) return;
  throw new Error("the fan-out did not reach the end of the log");
}
const countOf = async (runIds: string[]) => {
  const [row] = await query<{ count: number }>(
    "select count(*)::int as count from webhook_deliveries where run_id = any($1::uuid[])",
    [runIds],
  );
  return row!.count;
};
const setAside = () =>
  query<{ run_id: string; tenant_id: string; type: string; reason: string }>(
    "select run_id, tenant_id, type, reason from webhook_set_aside_events",
  );
/** A permanent error of the database. */
async function refuseDeliveriesOf(runId: string): Promise<void> {
  await query(`create or replace function refuse_delivery() returns trigger language plpgsql as $$
    begin raise check_violation using message = 'refused by a test'; end $$`);
  await query(`create trigger refuse_poison before insert on webhook_deliveries for each row
    when (new.run_id = '${runId}') execute function refuse_delivery()`);
}
const acceptDeliveries = () => query("drop trigger if exists refuse_poison on webhook_deliveries");
const UNREADABLE = { outputs: "not a list" };

beforeEach(async () => {
  messages.length = 0;
  await acceptDeliveries();
  for (const table of ["webhook_endpoints", "webhook_set_aside_events", "open_deliveries"])
    await query(`delete from ${table}`);
});

describe("the fan-out", () => {
  it("reads more events, webhooks and body bytes at once than one JSON value can hold", async () => {
    await hooks(MAX_WEBHOOKS_PER_TENANT);
    await hooks(1, OTHER);
    const large = await endedRuns(150, { metadata: { note: "n".repeat(18_500) } });
    const other = await endedRuns(1, { tenant_id: OTHER });
    await readLog();
    expect(await countOf(large)).toBe(150 * MAX_WEBHOOKS_PER_TENANT);
    expect(await countOf(other)).toBe(1);
    expect(await setAside()).toEqual([]);
  });

  it("sets an event aside that cannot be rendered, and delivers those before and after it", async () => {
    await hooks(2);
    await hooks(1, OTHER);
    const before = await endedRuns(40);
    const [poison] = await endedRuns(1, { result: UNREADABLE });
    const after = await endedRuns(40, { tenant_id: OTHER });
    await readLog();
    expect([await countOf(before), await countOf(after)]).toEqual([80, 40]);
    const expected = { run_id: poison, tenant_id: TENANT, type: "run.completed", reason: expect.stringMatching("map") };
    expect(await setAside()).toEqual([expected]);
    expect(messages.at(-1)).toBe("a webhook event cannot become deliveries; it was set aside");
    expect(new Set(messages).size).toBe(2);
  });

  it("sets an event aside whose deliveries the database refuses, wherever it is in a batch", async () => {
    await hooks(1);
    await hooks(1, OTHER);
    const runs = await endedRuns(30);
    const [poison] = await endedRuns(1);
    await refuseDeliveriesOf(poison!);
    runs.push(...(await endedRuns(70, { tenant_id: OTHER })));
    await readLog();
    expect(await countOf(runs)).toBe(100);
    expect(await setAside()).toMatchObject([{ run_id: poison, reason: expect.stringMatching("refused by a test") }]);
  });

  it("sets nothing aside while the database cannot be written to", async () => {
    await hooks(1);
    const runs = await endedRuns(3);
    const name = new URL(database.url).pathname.slice(1);
    await query(`alter database "${name}" set default_transaction_read_only = on`);
    const standby = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 2 });
    const fanOut = createFanOut({ ...services, database: standby });
    for (let pass = 0; pass < 12; pass++)
      await expect(fanOut()).rejects.toMatchObject({ code: "dependency_unavailable" });
    await standby.close();
    await query(`alter database "${name}" reset default_transaction_read_only`);
    await readLog();
    expect(await countOf(runs)).toBe(3);
    expect(await setAside()).toEqual([]);
  });
});

describe("an event that was set aside", () => {
  it("is tried again when its time has come, and delivered once its cause is removed", async () => {
    await hooks(2);
    const [poison] = await endedRuns(1);
    await refuseDeliveriesOf(poison!);
    await readLog();
    expect(await retrySetAsideEvents(services)).toBe(0);
    const isDue = "update webhook_set_aside_events set retry_at = now()";
    await query(isDue);
    expect(await retrySetAsideEvents(services)).toBe(0);
    expect(await setAside()).toHaveLength(1);
    await acceptDeliveries();
    expect(await retrySetAsideEvents(services)).toBe(0);
    await query(isDue);
    expect(await retrySetAsideEvents(services)).toBe(1);
    expect([await countOf([poison!]), await setAside()]).toEqual([2, []]);
  });

  it("is reported by the doctor", async () => {
    const check = () => checkSetAsideEvents({ DATABASE_URL: database.url, DATABASE_POOL: 2 });
    expect(await check()).toMatchObject({ status: "pass" });
    await hooks(1);
    await endedRuns(1, { result: UNREADABLE });
    await readLog();
    expect(await check()).toMatchObject({ status: "warn", message: expect.stringMatching("^1 event") });
  });
});

it("a replay goes on behind an event that cannot be rendered, and other replays go on beside it", async () => {
  await hooks(1);
  await hooks(1, OTHER);
  const runs = await endedRuns(2);
  await endedRuns(1, { result: UNREADABLE });
  runs.push(...(await endedRuns(2)), ...(await endedRuns(2, { tenant_id: OTHER })));
  const endpoints = await query<{ webhook_id: string; tenant_id: string }>(
    "select webhook_id, tenant_id from webhook_endpoints order by webhook_id",
  );
  for (const { webhook_id, tenant_id } of endpoints)
    await query(
      `insert into webhook_replays (replay_id, tenant_id, webhook_id, from_at, to_at, only_failed)
       values ($1, $2, $3, now() - interval '1 minute', now() + interval '1 minute', false)`,
      [v7(), tenant_id, webhook_id],
    );
  for (let pass = 0; pass < 3; pass++) await processReplays(services).catch(() => false);
  expect(await countOf(runs)).toBe(6);
  expect(await query("select from webhook_replays where finished_at is null")).toEqual([]);
});
