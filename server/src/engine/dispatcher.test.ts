// The dispatcher process: one of several leads, is woken by notifications, and stops dispatching when it loses its
// lease.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createDispatchServices, deleteOpenRuns, insertQueuedRuns, tenantId } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { acquireLeases, countLeaseHolders, releaseLeases } from "../db/leases.ts";
import { listQueues } from "../db/runs/queue.ts";
import { startDispatcher } from "./dispatcher.ts";
import type { Loop } from "./loop.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const running: { loop: Loop; holder: string }[] = [];
beforeEach(() => deleteOpenRuns(database.db));
afterEach(async () => {
  for (const { loop, holder } of running.splice(0)) {
    await loop.stop();
    await releaseLeases(database.db, holder);
  }
});

const start = async (holder: string, workerSlots = 50, db: Database = database.db) => {
  const started: string[] = [];
  const services = createDispatchServices({ database: db, workerSlots });
  const engineClient = { startRun: async ({ run_id }: { run_id: string }) => void started.push(run_id) };
  const loop = await startDispatcher(services, engineClient as never, holder);
  running.push({ loop, holder });
  return { started, loop };
};
const queueRun = (n: number) => insertQueuedRuns(database.db, tenantId(n), "a", 1);
const waitForLeader = () =>
  vi.waitFor(async () => expect(await countLeaseHolders(database.db, "dispatch")).toBe(1), WITHIN);
const WITHIN = { timeout: 5000, interval: 20 };

describe("the dispatcher", () => {
  it("starts queued runs, also those that it was not notified of", async () => {
    const { started } = await start("only");
    await queueRun(1);
    await vi.waitFor(() => expect(started).toHaveLength(1), WITHIN);
  });

  it("starts a run at once when it is notified", async () => {
    const { started } = await start("only");
    await waitForLeader();
    await sleep(100);
    await queueRun(1);
    await queueRun(2);
    const queues = `${tenantId(1)}/a ${tenantId(2)}/a`;
    const queuedAt = performance.now();
    await database.db.query("test.notify", "select pg_notify('gesso_queued', $1)", [queues]);
    await vi.waitFor(() => expect(started).toHaveLength(2), { ...WITHIN, interval: 5 });
    expect(performance.now() - queuedAt).toBeLessThan(1000);
  });

  it("looks again soon while runs are queued and none may start", async () => {
    const { started } = await start("only", 0);
    await insertQueuedRuns(database.db, tenantId(1), "a", 3);
    await vi.waitFor(() => expect(started).toHaveLength(1), WITHIN);
    // A run that does not start within a second no longer takes part in the capacity, so the next one follows.
    await vi.waitFor(() => expect(started).toHaveLength(3), WITHIN);
  });

  it("leaves dispatching to the leader, and takes over when the leader is gone", async () => {
    const first = await start("first");
    await waitForLeader();
    const second = await start("second");
    await queueRun(1);
    await vi.waitFor(() => expect(first.started).toHaveLength(1), WITHIN);
    await database.db.query("test.notify", "select pg_notify('gesso_queued', $1)", ["any"]);
    await first.loop.stop();
    await releaseLeases(database.db, "first");
    await queueRun(2);
    await vi.waitFor(() => expect(second.started).toHaveLength(1), WITHIN);
    expect(first.started).toHaveLength(1);
  });

  it("stops dispatching when another process holds the lease", async () => {
    const { started } = await start("slow");
    await queueRun(1);
    await vi.waitFor(() => expect(started).toHaveLength(1), WITHIN);
    await releaseLeases(database.db, "slow");
    expect(await acquireLeases(database.db, "other", ["dispatch"], 60)).toEqual(["dispatch"]);
    await sleep(2500);
    await queueRun(2);
    await sleep(600);
    expect(started).toHaveLength(1);
    expect(await listQueues(database.db)).toHaveLength(1);
    await releaseLeases(database.db, "other");
  });

  it("gives the first runs of a new leader by weight, however late the weights arrive", async () => {
    await database.owner.query("test.weight", "insert into tenants (tenant_id, name, weight) values ($1, 'heavy', 3)", [
      tenantId(31),
    ]);
    await insertQueuedRuns(database.db, tenantId(31), "a", 100);
    await insertQueuedRuns(database.db, tenantId(32), "a", 100);
    const slow: Database = {
      ...database.db,
      async execute(statement: { name: string }, ...values: never[]) {
        if (statement.name === "queue.list_weights") await sleep(600);
        return (database.db.execute as (...all: unknown[]) => unknown)(statement, ...values);
      },
    } as Database;
    const { started } = await start("only", 8, slow);
    await vi.waitFor(() => expect(started.length).toBeGreaterThan(0), WITHIN);
    const [row] = await database.db.query<{ heavy: number; all: number }>(
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
    await sleep(400);
    expect(started).toEqual([]);
  });
});
