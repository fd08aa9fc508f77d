// The locks that the life of a run takes in PostgreSQL, counted after each statement, must not grow with the age
// of the installation. `db/lock-count.test.ts` does the same for the plan of every statement; this test also sees the
// locks of indexes, triggers and functions.

import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeAssets } from "../../../test/support/fake-assets.ts";
import { insertHistory } from "../../../test/support/insert-history.ts";
import {
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  done,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime } from "../../../test/support/test-runtime.ts";
import type { Database } from "../../db/connect.ts";
import { LOG_START, listEventsAfter, listRunEvents, listTenantEvents, readLogHead } from "../../db/event-log.ts";
import { runMaintenance } from "../../db/maintenance.ts";
import { listOverdueRuns, requestCancellation, requeueExpiredClaims } from "../../db/runs/open-runs.ts";
import { findRun, tombstoneRun } from "../../db/runs/runs.ts";
import { listRunRows } from "../../db/search/list-runs.ts";
import { bindParameters } from "../../db/statement.ts";
import { dispatchDeliveries, recordDeliveryAttempt, renewDeliveryClaim } from "../../db/webhooks/delivery-queue.ts";
import { runWebhookMaintenance } from "../../db/webhooks/maintenance.ts";
import { FetchEnv } from "../../outbound/fetch-settings.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { createFanOut } from "../../webhooks/fan-out.ts";
import { WebhookEnv } from "../../webhooks/settings.ts";
import { createWebhookService } from "../../webhooks/webhook-service.ts";
import { executeRun } from "./execute.ts";
import type { RunEngine } from "./run-engine.ts";
import { runSteps } from "./run-steps.ts";

const AGES_IN_DAYS = [8, 98, 400];

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
  await database.owner.query(
    "test.endpoint",
    "insert into webhook_endpoints (webhook_id, tenant_id, url, events) values ($1, $2, 'https://x.example', $3)",
    [v7(), TENANT, ["run.completed"]],
  );
});
afterAll(() => database?.stop());

type CountingDatabase = Database & { counts: Record<string, number>; end(): Promise<void> };

/** A database of one connection that counts the locks of tables and indexes after each statement. */
async function connectCounting(): Promise<CountingDatabase> {
  const client = new pg.Client({
    connectionString: database.url,
    options: "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c role=gesso_system",
  });
  await client.connect();
  const counts: Record<string, number> = {};
  let previous: Promise<unknown> = Promise.resolve();
  const inTransaction = async (query: pg.QueryConfig) => {
    await client.query("begin");
    try {
      const { rows } = await client.query(query);
      const { rows: locks } = await client.query<{ count: number }>(
        `select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
           and relation <> all (select oid from pg_class where relnamespace = 'pg_catalog'::regnamespace)`,
      );
      counts[query.name!] = Math.max(counts[query.name!] ?? 0, locks[0]!.count);
      await client.query("commit");
      return rows;
    } catch (thrown) {
      await client.query("rollback");
      throw thrown;
    }
  };
  const counting: CountingDatabase = {
    ...database.db,
    counts,
    end: () => client.end(),
    forTenant: () => counting,
    execute: (statement, ...[values]) => {
      const query = { name: statement.name, text: statement.text, values: bindParameters(statement, values) };
      const result = previous.then(() => inTransaction(query));
      previous = result.catch(() => undefined);
      return result as Promise<never[]>;
    },
  };
  return counting;
}

const ENGINE: RunEngine = {
  step: (_name, work) => work(),
  createWakeup: () => ({ id: v7(), wait: async () => undefined }),
  waitForFirst: (operations) =>
    Promise.race(
      operations.map(async (operation, position) =>
        operation.then(
          () => position,
          () => position,
        ),
      ),
    ),
};
const ERROR = { code: "canceled", message: "canceled" } as never;

/** Everything that happens to a run and its webhook, and what is read of it. */
async function liveThroughRun(db: Database): Promise<void> {
  const fake = createFakeProvider("fake");
  fake.poll = async () => done("image");
  const services = createStepServices({
    database: db,
    runtime: createRuntime(),
    providers: createTestProviders([fake]),
  });
  const claim = await claimRun(db, { isStarted: false });
  await executeRun(claim, ENGINE, runSteps({ plan: services, sources: services, attempt: services }));
  expect((await findRun(db, TENANT, claim.run_id))?.status).toBe("completed");

  await listRunRows(db, TENANT, {}, 20);
  await listRunEvents(db, TENANT, claim.run_id);
  const head = await readLogHead(db);
  await listEventsAfter(db, head, 100);
  await listTenantEvents(db, TENANT, { ...LOG_START, limit: 100 });
  await deliverWebhooks(db);
  await tombstoneRun(db, TENANT, claim.run_id, v7());

  const canceled = await claimRun(db);
  await requestCancellation(db, TENANT, canceled.run_id, ERROR, v7());
  await requeueExpiredClaims(db, 10);
  await listOverdueRuns(db, 20, 10);
  await runMaintenance(db, 1000);
  await runWebhookMaintenance(db, 1000);
}

async function deliverWebhooks(db: Database): Promise<void> {
  const settings = { ...WebhookEnv.parse({}), ...FetchEnv.parse({}), PUBLIC_URL: "http://127.0.0.1:7788" };
  const service = createWebhookService(settings, () => [new Uint8Array(32)], systemClock);
  const services = { ...createTestRuntime(), ...service, database: db, assets: createFakeAssets("https://x/") };
  const fanOut = createFanOut(services);
  while ((await fanOut()) !== 0);
  const [delivery] = await dispatchDeliveries(db, { concurrency: 100, perSecond: 1000 }, 1);
  await renewDeliveryClaim(db, delivery!);
  await recordDeliveryAttempt(db, delivery!, {
    attempt: { attempt: 1, started_at: new Date(), duration_ms: 1, status: 200, error: null, response: null },
    status: "delivered",
    breaker: { failures: 5, seconds: 1, longest: 60 },
  });
  await service.httpClient.close();
}

async function countLocksOfRun(): Promise<Record<string, number>> {
  const counting = await connectCounting();
  // The first run of a connection also plans its statements.
  await liveThroughRun(counting);
  for (const name of Object.keys(counting.counts)) delete counting.counts[name];
  await liveThroughRun(counting);
  await counting.end();
  return counting.counts;
}

describe("the life of a run", () => {
  it("takes the same locks at 8, 98 and 400 days", async () => {
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const counts: Record<string, number>[] = [];
    for (const days of AGES_IN_DAYS) {
      // More runs than a page has, so that lists end at their first page at every age.
      await insertHistory(owner, { days, runsPerDay: 4 });
      counts.push(await countLocksOfRun());
    }
    await owner.end();
    const [young, ...older] = counts;
    expect(Object.keys(young!).length).toBeGreaterThan(30);
    for (const each of older) expect(each).toEqual(young);
  });
});
