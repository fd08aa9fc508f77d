// From the log to messages, on a real database: none left out, none made twice, however many read at once.

import { createHash } from "node:crypto";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeAssets } from "../../test/support/fake-assets.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { LOG_START, listEventsAfter } from "../db/event-log.ts";
import { commitFanOut, readFanOutCursor } from "../db/webhooks/fan-out.ts";
import { FetchEnv } from "../outbound/fetch-settings.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createFanOut } from "./fan-out.ts";
import { WebhookEnv } from "./settings.ts";
import { createWebhookService, type WebhookServices } from "./webhook-service.ts";

const [TENANT, OTHER] = [v7(), v7()];
let database: TestDatabase;
let services: WebhookServices;

beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
  const settings = { ...WebhookEnv.parse({}), ...FetchEnv.parse({}), PUBLIC_URL: "http://127.0.0.1:7788" };
  const service = createWebhookService(settings, () => [new Uint8Array(32)], systemClock);
  services = { ...createTestRuntime(), ...service, database: database.db, assets: createFakeAssets("https://x/") };
});
afterAll(async () => {
  await services?.httpClient.close();
  await database?.stop();
});

const query = <R>(text: string, values: unknown[] = []) =>
  database.owner.query<R>(`test.${createHash("md5").update(text).digest("hex")}`, text, values);

async function endedRun(about: { tenant_id?: string; webhook_url?: string | null; deleted?: boolean } = {}) {
  const { tenant_id = TENANT, webhook_url = "https://example.com/hook", deleted = false } = about;
  const run_id = v7();
  await query(
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, root_run_id, inputs, plan, webhook_url, error,
       started_at, finished_at, deleted_at)
     values ($1, $2, 'me', 'images.generate', 'generation', 'failed', $1, '{}', '[]', $3, '{"message":"x"}', now(), now(),
       case when $4 then now() end)`,
    [run_id, tenant_id, webhook_url, deleted],
  );
  await query(
    "insert into events (run_id, event_id, tenant_id, type, terminal) values ($1, $2, $3, 'run.failed', true)",
    [run_id, v7(), tenant_id],
  );
  return run_id;
}
const tell = (run_id: string, type: string, at: Date) =>
  query("insert into events (run_id, event_id, tenant_id, type, created_at) values ($1, $2, $3, $4, $5)", [
    ...[run_id, v7(), TENANT, type, at],
  ]);
const readAll = async () => {
  const fanOut = createFanOut(services);
  while ((await fanOut()) !== 0);
};
const deliveriesOf = (runIds: string[]) =>
  query<{ run_id: string; webhook_id: string | null; type: string; body: string }>(
    "select * from webhook_deliveries where run_id = any($1::uuid[]) order by delivery_id",
    [runIds],
  );
const hook = async (tenant_id: string, events: string[]) => {
  const id = v7();
  await query(
    "insert into webhook_endpoints (webhook_id, tenant_id, url, events) values ($1, $2, 'https://example.com/all', $3)",
    [...[id, tenant_id, events]],
  );
  return id;
};

describe("the fan-out", () => {
  it("makes one message for each destination of each event, also where several read at once", async () => {
    const runs = await Promise.all(Array.from({ length: 120 }, () => endedRun()));
    const hooks = [await hook(TENANT, ["run.failed", "run.completed"]), await hook(TENANT, ["run.completed"])];
    const foreign = await hook(OTHER, ["run.failed"]);
    await Promise.all(Array.from({ length: 6 }, readAll));
    const made = await deliveriesOf(runs);
    expect(made).toHaveLength(240);
    expect(made.filter(({ webhook_id }) => webhook_id === hooks[0])).toHaveLength(120);
    expect(made.filter(({ webhook_id }) => webhook_id === foreign)).toEqual([]);
    const [open] = await query<{ count: number }>("select count(*)::int as count from open_deliveries");
    expect(open!.count).toBe(240);
    await query("delete from webhook_endpoints");
  });

  it("leaves nothing half done: who read from an old place writes nothing", async () => {
    const from = await readFanOutCursor(database.db);
    const run = await endedRun();
    const last = (await listEventsAfter(database.db, from, 10)).at(-1)!;
    await readAll();
    const late = { from, to: last, deliveries: [], progressSent: [], ended: [], givesUpSeconds: 1 };
    expect(await commitFanOut(database.db, late)).toBeUndefined();
    expect(await deliveriesOf([run])).toHaveLength(1);
  });

  it("makes nothing twice where the log is read from its beginning again", async () => {
    const [before] = await query<{ count: number }>("select count(*)::int as count from webhook_deliveries");
    await query("update webhook_cursor set xact = $1, seq = $2", [LOG_START.xact, LOG_START.seq]);
    await readAll();
    const [after] = await query<{ count: number }>("select count(*)::int as count from webhook_deliveries");
    expect(after).toEqual(before);
  });

  it("sends nothing for a deleted run, nor for one without a webhook URL", async () => {
    const runs = [await endedRun({ deleted: true }), await endedRun({ webhook_url: null })];
    await readAll();
    expect(await deliveriesOf(runs)).toEqual([]);
  });

  it("tells of progress at most every two seconds, over several rounds too", async () => {
    const id = await hook(TENANT, ["run.progress"]);
    const run_id = v7();
    await query(
      `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, root_run_id, inputs, plan, started_at, progress)
       values ($1, $2, 'me', 'images.generate', 'generation', 'processing', $1, '{}', '[]', now(), 0.5)`,
      [run_id, TENANT],
    );
    const start = Date.now();
    for (const ms of [0, 500, 1900, 2000, 2100]) await tell(run_id, "run.progress", new Date(start + ms));
    await readAll();
    for (const ms of [3900, 4000, 9000, 9100]) await tell(run_id, "run.progress", new Date(start + ms));
    await readAll();
    const told = (await deliveriesOf([run_id])).map(({ body }) => Date.parse(JSON.parse(body).timestamp) - start);
    expect(told.sort((one, two) => one - two)).toEqual([0, 2000, 4000, 9000]);
    await query("delete from webhook_endpoints where webhook_id = $1", [id]);
  });
});
