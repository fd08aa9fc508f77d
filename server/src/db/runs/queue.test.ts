// The queue in a real database: what waits, what is claimed, and that a tenant's long queue does not slow down others.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { claimJobsToPoll, saveWakeup } from "../attempts/open-requests.ts";
import { connectDatabase } from "../connect.ts";
import { requeueAllRuns, requeueExpiredClaims } from "./open-runs.ts";
import { claimQueuedRuns, countLaneLoad, findQueueRank, listQueues, returnToQueue, saveStartRates } from "./queue.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(() => database.db.query("test.empty", "delete from open_runs"));

const tenant = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;
const run = (n: number) => `00000000-0000-7000-9000-${String(n).padStart(12, "0")}`;
const insertQueuedRuns = (tenantId: string, lane: string, { from, count }: { from: number; count: number }) =>
  database.db.query(
    "test.queue",
    `insert into open_runs (run_id, tenant_id, lane, deadline_at)
     select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, now() + interval '1 hour'
     from generate_series($3::int, $3 + $4 - 1) as n`,
    [tenantId, lane, from, count],
  );

describe("the queue", () => {
  it("lists who waits for whom, each once", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 50 });
    await insertQueuedRuns(tenant(1), "b", { from: 100, count: 2 });
    await insertQueuedRuns(tenant(2), "a", { from: 200, count: 1 });
    expect(await listQueues(database.db)).toEqual([
      { tenant_id: tenant(1), lane: "a" },
      { tenant_id: tenant(1), lane: "b" },
      { tenant_id: tenant(2), lane: "a" },
    ]);
  });

  it("gives the oldest of each queue, as many as asked for or as there are, and each once", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 50 });
    await insertQueuedRuns(tenant(2), "a", { from: 200, count: 1 });
    const asked = [
      { tenant_id: tenant(1), lane: "a", count: 3 },
      { tenant_id: tenant(2), lane: "a", count: 3 },
    ];
    const first = await claimQueuedRuns(database.db, asked);
    expect(first.map((taken) => taken.run_id).sort()).toEqual([run(1), run(2), run(3), run(200)]);
    const next = await claimQueuedRuns(database.db, asked);
    expect(next.map((taken) => taken.run_id).sort()).toEqual([run(4), run(5), run(6)]);
  });

  it("finds them by index, however long the queue of one is", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 20_000 });
    await insertQueuedRuns(tenant(2), "a", { from: 50_000, count: 5 });
    await database.db.query("test.analyze", "analyze open_runs");
    // Sequential statements use one connection, so its statistics can be flushed and read.
    const alone = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 2 });
    const readFromIndex = async () => {
      await alone.query("test.flush", "select pg_stat_force_next_flush()");
      const [row] = await alone.query<{ read: number }>(
        "test.read",
        "select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'open_runs_waiting'",
      );
      return row!.read;
    };
    const before = await readFromIndex();
    for (let n = 0; n < 10; n++) expect(await listQueues(alone)).toHaveLength(2);
    expect(await claimQueuedRuns(alone, [{ tenant_id: tenant(2), lane: "a", count: 5 }])).toHaveLength(5);
    expect((await readFromIndex()) - before).toBeLessThan(100);
    await alone.close();
  });

  it("leaves out the runs of a suspended tenant until the tenant is active again", async () => {
    await database.owner.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant(8)]);
    const suspend = (isSuspended: boolean) =>
      database.owner.query("test.suspend", "update tenants set suspended_at = $2 where tenant_id = $1", [
        tenant(8),
        isSuspended ? new Date() : null,
      ]);
    const asked = [
      { tenant_id: tenant(2), lane: "a", count: 5 },
      { tenant_id: tenant(8), lane: "a", count: 5 },
    ];
    await insertQueuedRuns(tenant(2), "a", { from: 1, count: 1 });
    await insertQueuedRuns(tenant(8), "a", { from: 200, count: 2 });
    await suspend(true);
    expect(await listQueues(database.db)).toEqual([{ tenant_id: tenant(2), lane: "a" }]);
    expect((await claimQueuedRuns(database.db, asked)).map(({ run_id }) => run_id)).toEqual([run(1)]);
    await suspend(false);
    expect(await listQueues(database.db)).toEqual([{ tenant_id: tenant(8), lane: "a" }]);
    expect(await claimQueuedRuns(database.db, asked)).toHaveLength(2);
  });

  it("takes back what could not be handed over", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 1 });
    const taken = await claimQueuedRuns(database.db, [{ tenant_id: tenant(1), lane: "a", count: 1 }]);
    expect(await listQueues(database.db)).toEqual([]);
    await returnToQueue(database.db, taken);
    expect(await listQueues(database.db)).toEqual([{ tenant_id: tenant(1), lane: "a" }]);
    expect(await countLaneLoad(database.db)).toEqual([]);
  });

  it("counts what is worked on and what stands before a gate, and not what waits for its provider", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 4 });
    const [first, second] = await claimQueuedRuns(database.db, [{ tenant_id: tenant(1), lane: "a", count: 3 }]);
    await saveWakeup(database.db, first!, 0, { wakeupId: "x", seconds: 1, activity: "waiting_for_slot" });
    await saveWakeup(database.db, second!, 0, { wakeupId: "x", seconds: 1, activity: "at_provider" });
    expect(await countLaneLoad(database.db)).toMatchObject([
      { lane: "a", working: 1, waiting_for_slot: 1, not_started: 1 },
    ]);
    await requeueAllRuns(database.db);
    expect(await countLaneLoad(database.db)).toEqual([]);
  });

  it("is refilled after a loss of the engine while other statements lock runs by id, without a deadlock", async () => {
    const sql = `insert into open_runs (run_id, tenant_id, lane, deadline_at, dispatched_at)
      select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, $1, 'a', now() + interval '1 hour', now()
      from generate_series(3000, 1, -1) as n`;
    await database.db.query("test.dispatch", sql, [tenant(1)]);
    const lockById = () => database.db.query("test.lock", "select from open_runs order by run_id for update");
    const rebuilds = Array.from({ length: 3 }, () => Promise.all([requeueAllRuns(database.db), lockById()]));
    const counts = (await Promise.all(rebuilds)).map(([count]) => count);
    expect(counts.sort((a, b) => a - b)).toEqual([0, 0, 3000]);
  });

  it("does not hold others up for what was handed over and is never begun", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 2 });
    await claimQueuedRuns(database.db, [{ tenant_id: tenant(1), lane: "a", count: 1 }]);
    await database.db.query("test.age", "update open_runs set dispatched_at = dispatched_at - interval '2 seconds'");
    await claimQueuedRuns(database.db, [{ tenant_id: tenant(1), lane: "a", count: 1 }]);
    const [busy] = await countLaneLoad(database.db);
    expect([busy!.working, busy!.not_started]).toEqual([2, 1]);
    expect(busy!.oldest_wait_seconds).toBeLessThan(1);
  });

  it("tells a run its place in its own queue, and how fast that moves", async () => {
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 30 });
    await insertQueuedRuns(tenant(2), "a", { from: 200, count: 3 });
    await saveStartRates(database.db, new Map([[tenant(2), 4]]));
    expect(await findQueueRank(database.db, tenant(1), run(30))).toEqual({ ahead: 29, per_second: null });
    expect(await findQueueRank(database.db, tenant(2), run(202))).toEqual({ ahead: 2, per_second: 4 });
    expect(await findQueueRank(database.db, tenant(1), run(202))).toBeUndefined();
    await claimQueuedRuns(database.db, [{ tenant_id: tenant(2), lane: "a", count: 1 }]);
    expect(await findQueueRank(database.db, tenant(2), run(200))).toBeUndefined();
    expect(await findQueueRank(database.db, tenant(2), run(202))).toMatchObject({ ahead: 1 });
  });
});

describe("statements that were planned while nothing waited", () => {
  it("may not read tables whole", async () => {
    const settings = `select current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as reads`;
    expect(await database.db.query("test.settings", settings)).toEqual([{ plans: "force_generic_plan", reads: "off" }]);
  });

  it("are as quick when thousands do", async () => {
    const one = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 1 });
    const statements = {
      take: () => claimQueuedRuns(one, [{ tenant_id: tenant(1), lane: "a", count: 20 }]),
      putBack: () => returnToQueue(one, [{ run_id: run(1), tenant_id: tenant(1), epoch: 1 }]),
      requeue: () => requeueExpiredClaims(one, 100),
      poll: () => claimJobsToPoll(one, "a", { limit: 100, everySeconds: 1 }),
    };
    const timeEach = async () => {
      const times: Record<string, number> = {};
      for (const [name, ask] of Object.entries(statements)) {
        const beginning = performance.now();
        await ask();
        times[name] = performance.now() - beginning;
      }
      return times;
    };
    await database.owner.query("test.vacuum", "vacuum analyze open_runs");
    await timeEach();
    await insertQueuedRuns(tenant(1), "a", { from: 1, count: 20_000 });
    await insertQueuedRuns(tenant(2), "a", { from: 30_000, count: 20_000 });
    for (const [name, ms] of Object.entries(await timeEach())) expect([name, ms < 500 || ms]).toEqual([name, true]);
    await one.close();
  });
});
