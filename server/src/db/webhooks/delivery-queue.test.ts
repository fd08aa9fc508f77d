// Statements of the delivery queue that meet changes of their endpoint at the same moment.
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { findDelivery, insertMissingDeliveries } from "./deliveries.ts";
import { dispatchDeliveries, recordDeliveryAttempt } from "./delivery-queue.ts";
import { updateWebhookRow } from "./endpoints.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const FAILED_ATTEMPT = {
  attempt: { attempt: 1, started_at: new Date(), duration_ms: 1, status: 500, error: null, response: null },
  ...{ status: "pending" as const, waitSeconds: 60, breaker: { failures: 5, seconds: 1, longest: 60 } },
};

/** Resolves when so many statements wait for a lock. */
const waitForBlocked = (count: number) =>
  expect
    .poll(async () => {
      const text = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return (await database.owner.query(v7(), text)).length;
    })
    .toBe(count);

it("an attempt that fails while its endpoint is disabled is no deadlock", async () => {
  const [tenant_id, webhook_id, delivery_id] = [v7(), v7(), v7()];
  const url = "https://example.com/hook";
  const text = "insert into webhook_endpoints (webhook_id, tenant_id, url, events) values ($1, $2, $3, '{}')";
  await database.owner.query(v7(), text, [webhook_id, tenant_id, url]);
  const delivery = { delivery_id, tenant_id, webhook_id, url, event_id: v7(), run_id: null, type: "x", body: "{}" };
  const destination = { destination: `webhook/${webhook_id}`, host: "example.com" };
  await insertMissingDeliveries(database.db, [{ ...delivery, ...destination }], 1000);
  const [claim] = await dispatchDeliveries(database.db, { concurrency: 10, perSecond: 100 }, 1);

  // A third transaction holds the endpoint until both statements wait: the change of the endpoint first.
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("begin");
  await client.query("select from webhook_endpoints where webhook_id = $1 for update", [webhook_id]);
  const changed = updateWebhookRow(database.db, createCallerRecord({ tenant_id }), webhook_id, { enabled: false });
  await waitForBlocked(1);
  const recorded = recordDeliveryAttempt(database.db, claim!, FAILED_ATTEMPT);
  await waitForBlocked(2);
  await client.query("commit");
  await client.end();

  expect(await Promise.all([changed, recorded])).toMatchObject([{ enabled: false }, undefined]);
  expect(await findDelivery(database.db, tenant_id, delivery_id)).toMatchObject({ status: "disabled", attempts: 0 });
});
