// The dispatcher process: one of several leads, is woken by notifications, and stops dispatching when it loses its
// lease. All dispatchers and the database are on one clock, which the test moves.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../test/support/database-clock.ts";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { createDispatchServices, deleteOpenRuns, insertQueuedRuns, tenantId } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { acquireLeases, countLeaseHolders, releaseLeases } from "../db/leases.ts";
import { listQueues } from "../db/runs/queue.ts";
import { startDispatcher } from "./dispatcher.ts";
import type { Loop } from "./loop.ts";

const POLL_MS = 250;
const FULL_RETRY_MS = 20;
const RENEW_MS = 2000;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
});
afterAll(() => database?.stop());

let clock: ManualClock;
let db: Database;
const running: Loop[] = [];
beforeEach(async () => {
  clock = createManualClock();
  db = connectOnClock(database, clock);
  await deleteOpenRuns(db);
  await db.query("test.clear", "delete from leases");
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((loop) => loop.stop()));
  expect(clock.timers().filter(({ isRef }) => isRef)).toEqual([]);
  await db.close();
});

const start = async (holder: string, { workerSlots = 50, on = db } = {}) => {
  const started: string[] = [];
  let onStart = () => {};
  const services = createDispatchServices({ database: on, workerSlots, clock });
  const startRun = async ({ run_id }: { run_id: string }) => {
    started.push(run_id);
    onStart();
  };
  const loop = await startDispatcher(services, { startRun } as never, holder);
  running.push(loop);
  /** Resolves when so many runs have started, without moving the clock. */
  const hasStarted = (count: number) =>
    new Promise<void>((resolve) => {
      onStart = () => started.length >= count && resolve();
      onStart();
    });
  return { started, loop, hasStarted };
};
const queueRun = (n: number) => insertQueuedRuns(db, tenantId(n), "a", 1);

describe("the dispatcher", () => {
  it("starts queued runs, also those that it was not notified of", async () => {
    const { started } = await start("only");
    await clock.advance(POLL_MS);
    await queueRun(1);
    await clock.advance(POLL_MS - 1);
    expect(started).toEqual([]);
    await clock.advance(1);
    expect(started).toHaveLength(1);
  });

  it("starts a run at once when it is notified", async () => {
    const { hasStarted } = await start("only");
    await clock.advance(POLL_MS);
    await queueRun(1);
    await queueRun(2);
    const queues = `${tenantId(1)}/a ${tenantId(2)}/a`;
    await db.query("test.notify", "select pg_notify('gesso_queued', $1)", [queues]);
    // No timer fires meanwhile, so nothing but the notification starts them.
    await hasStarted(2);
    expect(clock.at).toBe(POLL_MS);
  });

  it("looks again soon while runs are queued and none may start", async () => {
    const { started } = await start("only", { workerSlots: 0 });
    await clock.advance(POLL_MS);
    await insertQueuedRuns(db, tenantId(1), "a", 3);
    await clock.advance(POLL_MS);
    expect(started).toHaveLength(1);
    expect(clock.timers()).toContainEqual({ ms: FULL_RETRY_MS, dueAt: expect.any(Number), isRef: false });
    // A run that does not start within a second no longer takes part in the capacity, so the next one follows.
    await clock.advance(999);
    expect(started).toHaveLength(1);
    await clock.advance(FULL_RETRY_MS);
    expect(started).toHaveLength(2);
    await clock.advance(1000 + FULL_RETRY_MS);
    expect(started).toHaveLength(3);
  });

  it("leaves dispatching to the leader, and takes over when the leader is gone", async () => {
    const first = await start("first");
    await clock.advance(POLL_MS);
    const second = await start("second");
    await queueRun(1);
    await clock.advance(POLL_MS);
    expect(first.started).toHaveLength(1);
    await first.loop.stop();
    await releaseLeases(db, "first");
    await queueRun(2);
    await clock.advance(RENEW_MS + POLL_MS);
    expect([first.started.length, second.started.length]).toEqual([1, 1]);
  });

  it("takes over from a leader that was killed when its lease has expired, and not before", async () => {
    await acquireLeases(db, "killed", ["dispatch"], 6);
    const { started } = await start("next");
    await queueRun(1);
    await clock.advance(6000);
    expect([started.length, await countLeaseHolders(db, "dispatch")]).toEqual([0, 0]);
    await clock.advance(RENEW_MS);
    expect([started.length, await countLeaseHolders(db, "dispatch")]).toEqual([1, 1]);
  });

  it("stops dispatching when another process holds the lease", async () => {
    const { started } = await start("slow");
    await queueRun(1);
    await clock.advance(POLL_MS);
    expect(started).toHaveLength(1);
    await releaseLeases(db, "slow");
    expect(await acquireLeases(db, "other", ["dispatch"], 60)).toEqual(["dispatch"]);
    await clock.advance(RENEW_MS);
    await queueRun(2);
    await clock.advance(10 * RENEW_MS);
    expect(started).toHaveLength(1);
    expect(await listQueues(db)).toHaveLength(1);
  });

  it("gives the first runs of a new leader by weight, however late the weights arrive", async () => {
    await database.owner.query("test.weight", "insert into tenants (tenant_id, name, weight) values ($1, 'heavy', 3)", [
      tenantId(31),
    ]);
    await insertQueuedRuns(db, tenantId(31), "a", 100);
    await insertQueuedRuns(db, tenantId(32), "a", 100);
    const arrival = Promise.withResolvers<void>();
    const slow: Database = {
      ...db,
      async execute(statement: { name: string }, ...values: never[]) {
        if (statement.name === "queue.list_weights") await arrival.promise;
        return (db.execute as (...all: unknown[]) => unknown)(statement, ...values);
      },
    } as Database;
    const { started, hasStarted } = await start("only", { workerSlots: 8, on: slow });
    await clock.advance(10 * POLL_MS);
    expect(started).toEqual([]);
    arrival.resolve();
    await hasStarted(8);
    const [row] = await db.query<{ heavy: number; all: number }>(
      "test.shares",
      "select count(*) filter (where tenant_id = $1)::int as heavy, count(*)::int as all from open_runs where run_id = any($2)",
      [tenantId(31), started],
    );
    expect([row!.heavy / row!.all, row!.all]).toEqual([0.75, started.length]);
  });

  it("dispatches nothing after it was stopped", async () => {
    const { started, loop } = await start("only");
    await loop.stop();
    await queueRun(1);
    loop.wake();
    await clock.advance(10 * RENEW_MS);
    expect(started).toEqual([]);
  });
});
