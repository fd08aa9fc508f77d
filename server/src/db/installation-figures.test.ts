// The figures of metrics, from rows in a real database.
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { readInstallationFigures } from "./installation-figures.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const insertRun = (values: string) =>
  database.owner.query(
    "test.insert",
    `insert into open_runs (run_id, tenant_id, lane, dispatched_at, started_at, epoch, reserved, deadline_at) values ${values}`,
  );
const idOfAge = (seconds: number, n: number) =>
  `overlay(uuid_floor(now() - interval '${seconds} seconds')::text placing '${String(n).padStart(4, "0")}' from 33)::uuid`;
const TENANT = "'00000000-0000-7000-8000-000000000001'";

it("are zero and empty without work", async () => {
  const figures = await readInstallationFigures(database.db);
  expect(figures).toMatchObject({ queues: [], requests: [], unknown_attempts: [], open_breakers: [] });
  expect(figures).toMatchObject({ queued: 0, processing: 0, requeued: 0, reserved: 0, webhook_backlog: 0 });
  expect(figures.lock_share).toBeGreaterThan(0);
  expect(figures.lock_share).toBeLessThan(0.1);
});

it("count what waits and its age by provider, what is lost, and what money it holds", async () => {
  const late = "now() + interval '1 hour'";
  await insertRun(
    [
      `(${idOfAge(90, 1)}, ${TENANT}, 'fal', null, null, 0, 1500000, ${late})`,
      `(${idOfAge(10, 2)}, ${TENANT}, 'fal', null, null, 0, null, ${late})`,
      `(${idOfAge(10, 3)}, ${TENANT}, 'openai', now() - interval '5 seconds', null, 0, null, ${late})`,
      `(${idOfAge(10, 4)}, ${TENANT}, 'openai', now(), now(), 2, 500000, ${late})`,
      `(${idOfAge(10, 5)}, ${TENANT}, 'openai', now(), now(), 1, null, '9999-01-01 00:00:00+00')`,
    ].join(", "),
  );
  await database.owner.query(
    "test.breaker",
    `insert into circuit_breakers (provider, upstream, failures, open_until) values
       ('fal', 'a', 5, now() + interval '1 minute'), ('fal', 'b', 5, now() - interval '1 minute')`,
  );
  const figures = await readInstallationFigures(database.db);
  expect(figures.queues).toEqual([{ provider: "fal", depth: 2, oldest_age: expect.closeTo(90, -0.5) }]);
  expect(figures).toMatchObject({ queued: 3, processing: 2, not_started: 1, requeued: 2, quarantined: 1, reserved: 2 });
  expect(figures.open_breakers).toEqual([{ provider: "fal", count: 1 }]);
});

it("show a transaction that holds up the readers of the event log", async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query("begin");
  await holder.query("select pg_current_xact_id()");
  await database.owner.query(
    "test.event",
    `insert into events (run_id, event_id, tenant_id, type, created_at)
     select gen_random_uuid(), gen_random_uuid(), ${TENANT}, 'run.completed', now() - interval '90 seconds'`,
  );
  const during = await readInstallationFigures(database.db);
  await holder.query("rollback");
  await holder.end();
  expect(during.horizon_lag).toBeGreaterThanOrEqual(90);
  // Transactions of other databases of the server hold up the readers too, until they end.
  await expect.poll(async () => (await readInstallationFigures(database.db)).horizon_lag).toBe(0);
});
