// The log under many writers at once: a reader that continues from its position sees each event once, whenever it was
// committed.

import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { until } from "../../test/support/until.ts";
import type { Database } from "./connect.ts";
import {
  deleteOldEvents,
  type EventRow,
  formatPosition,
  isPositionAfter,
  LOG_START,
  type LogPosition,
  listEventsAfter,
  listLatestEventsOfOpenRuns,
  listRunEvents,
  listTenantEvents,
  parsePosition,
  readLogHead,
  repairEventClock,
} from "./event-log.ts";
import { endRun } from "./runs/end-runs.ts";
import { findRunsOfEvents } from "./runs/event-runs.ts";
import { insertRun, type NewRun } from "./runs/insert-run.ts";
import { recordProgress } from "./runs/open-runs.ts";
import { startClaimedRun } from "./runs/start-run.ts";
import { bindParameters } from "./statement.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
});
afterAll(() => database?.stop());

const INSERT = "insert into events (run_id, event_id, tenant_id, type) values ($1, $2, $3, 'run.progress')";
const TENANT = v7();

const newRun = (run_id: string): NewRun => ({
  ...{ run_id, tenant_id: TENANT, user_id: "u", operation: "images.generate", run_type: "image-generation" },
  ...{ inputs: {}, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "x" },
  ...{ deadlineSeconds: 60, event_id: v7() },
});

/** The database as one connection sees it, so that a transaction can be held open. */
/** The database within the transaction of this client. */
const through = (client: pg.Client): Database => ({
  ...database.db,
  execute: async (statement, ...[values]) => {
    const { name, text } = statement;
    return (await client.query({ name, text, values: bindParameters(statement, values) })).rows;
  },
});

async function writer(url: string) {
  const client = new pg.Client({ connectionString: url, options: "-c role=gesso_system" });
  await client.connect();
  return client;
}

/** Reads on until it has seen `count` events after `from`, in steps of a few. */
async function readOn(from: LogPosition, count: number): Promise<EventRow[]> {
  const seen: EventRow[] = [];
  let position = from;
  while (seen.length < count) {
    const next = await listEventsAfter(database.db, position, 7);
    seen.push(...next);
    position = next.at(-1) ?? position;
  }
  return seen;
}

describe("the order of the log", () => {
  it("shows a reader every event once while transactions commit in any order", async () => {
    const from = await readLogHead(database.db);
    const written: string[] = [];
    const write = async (worker: number) => {
      const client = await writer(database.url);
      for (let n = 0; n < 60; n++) {
        await client.query("begin");
        for (let each = 0; each <= n % 3; each++) {
          const id = v7();
          await client.query(INSERT, [v7(), id, TENANT]);
          if (n % 10 !== 9) written.push(id);
        }
        await new Promise((resolve) => setTimeout(resolve, (worker * 7 + n * 13) % 25));
        await client.query(n % 10 === 9 ? "rollback" : "commit");
      }
      await client.end();
    };
    const writing = Promise.all([0, 1, 2, 3, 4, 5].map(write));
    const expected = 6 * [...Array(60).keys()].filter((n) => n % 10 !== 9).reduce((sum, n) => sum + 1 + (n % 3), 0);
    const seen = await readOn(from, expected);
    await writing;
    seen.push(...(await listEventsAfter(database.db, seen.at(-1)!, 100)));
    expect(seen.map(({ event_id }) => event_id).sort()).toEqual(written.sort());
    expect(seen.every((event, index) => index === 0 || isPositionAfter(event, seen[index - 1]!))).toBe(true);
  });

  it("holds back what is committed while an older transaction is under way, and loses neither", async () => {
    const from = await readLogHead(database.db);
    const [slow, fast] = [await writer(database.url), await writer(database.url)];
    const [first, second] = [v7(), v7()];
    await slow.query("begin");
    await slow.query(INSERT, [v7(), first, TENANT]);
    await fast.query(INSERT, [v7(), second, TENANT]);
    expect(await listEventsAfter(database.db, from, 10)).toEqual([]);
    await slow.query("commit");
    const seen = await listEventsAfter(database.db, from, 10);
    expect(seen.map(({ event_id }) => event_id)).toEqual([first, second]);
    await Promise.all([slow.end(), fast.end()]);
  });

  it("tells a change that waited for another one's after it, though its transaction is the older one", async () => {
    const runId = v7();
    const claim = { run_id: runId, tenant_id: TENANT, epoch: 0 };
    await insertRun(database.db, newRun(runId));
    await startClaimedRun(database.db, claim, v7());
    const [older, newer] = [await writer(database.url), await writer(database.url)];
    await older.query("begin");
    await older.query("select pg_current_xact_id()");
    await newer.query("begin");
    await recordProgress(through(newer), runId, 0.5, v7());
    const ending = endRun(
      through(older),
      claim,
      { status: "failed", error: { message: "x", code: "x" } as never },
      v7(),
    );
    const waiting = "select count(*)::int as n from pg_locks where not granted";
    await until(async () => (await database.owner.query<{ n: number }>("test.waiting", waiting))[0]!.n > 0);
    await newer.query("commit");
    expect(await ending).toBe(true);
    await older.query("commit");
    const types = (await listRunEvents(database.db, TENANT, runId)).map(({ type }) => type);
    expect(types).toEqual(["run.queued", "run.processing", "run.progress", "run.failed"]);
    await Promise.all([older.end(), newer.end()]);
  });

  it("shows how open runs stand, each by its last event", async () => {
    const [tenant, first, second] = [v7(), v7(), v7()];
    for (const run of [first, second]) await insertRun(database.db, { ...newRun(run), tenant_id: tenant });
    await startClaimedRun(database.db, { run_id: first, tenant_id: tenant, epoch: 0 }, v7());
    const at = { ...(await readLogHead(database.db)), limit: 10 };
    await recordProgress(database.db, first, 0.5, v7());
    const standing = await listLatestEventsOfOpenRuns(database.db.forTenant(tenant), tenant, at);
    expect(standing.map(({ run_id, type }) => [run_id, type])).toEqual([
      [second, "run.queued"],
      [first, "run.processing"],
    ]);
    expect([...(await findRunsOfEvents(database.db, standing)).keys()].sort()).toEqual([first, second].sort());
  });

  it("gives a tenant its own events only, and a run its own", async () => {
    const from = await readLogHead(database.db);
    const [mine, theirs, run] = [v7(), v7(), v7()];
    await database.db.query("test.event", INSERT, [run, v7(), mine]);
    await database.db.query("test.event", INSERT, [v7(), v7(), mine]);
    await database.db.query("test.event", INSERT, [run, v7(), theirs]);
    expect(await listTenantEvents(database.db.forTenant(mine), mine, { ...from, limit: 9 })).toHaveLength(2);
    expect(await listTenantEvents(database.db.forTenant(theirs), mine, { ...from, limit: 9 })).toEqual([]);
    const [event, ...rest] = await listRunEvents(database.db.forTenant(mine), mine, run);
    expect([event!.run_id, event!.tenant_id, event!.is_final, rest]).toEqual([run, mine, true, []]);
    expect(await listRunEvents(database.db.forTenant(theirs), mine, run)).toEqual([]);
  });

  it("goes on above what a database brought from another cluster", async () => {
    const foreign = v7();
    await database.db.query("test.event", INSERT, [foreign, foreign, TENANT]);
    await database.owner.query("test.lift", "update events set xact = 1000000000 where event_id = $1", [foreign]);
    const before = await readLogHead(database.db);
    expect(before.xact).toBeLessThan(1_000_000_000);
    await repairEventClock(database.db);
    const [brought] = (await listEventsAfter(database.db, before, 10)).slice(-1);
    expect(brought!.event_id).toBe(foreign);
    const next = v7();
    await database.db.query("test.event", INSERT, [v7(), next, TENANT]);
    expect((await listEventsAfter(database.db, brought!, 10)).map(({ event_id }) => event_id)).toEqual([next]);
    const head = await readLogHead(database.db);
    await repairEventClock(database.db);
    expect((await readLogHead(database.db)).xact - head.xact).toBeLessThan(10);
  });
});

it("processes that start at the same time on a new database wait for each other, and none fails", async () => {
  await database.owner.query("test.timeline", "update event_clock set timeline = null");
  const [reader, ...starting] = Array.from({ length: 4 }, () => new pg.Client({ connectionString: database.url }));
  const clients = [reader!, ...starting];
  await Promise.all(clients.map((client) => client.connect()));
  try {
    // Holds both back until each has come as far as it can.
    await reader!.query("begin; select from event_clock");
    const started = Promise.all(starting.map((client) => client.query("select notice_restored_event_log()")));
    const waiting = "select from pg_stat_activity where query like 'select notice%' and wait_event_type = 'Lock'";
    const haveCome = until(async () => (await reader!.query(waiting)).rowCount === starting.length);
    await Promise.race([haveCome, started]);
    await reader!.query("commit");
    expect((await started).map(({ rows }) => rows[0].notice_restored_event_log)).toEqual([false, false, false]);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

describe("the name of a place", () => {
  it("is read as it was printed, and sorts as the log does", () => {
    const places = [LOG_START, { xact: 15, seq: 9 }, { xact: 16, seq: 1 }, { xact: 2 ** 40, seq: 10 }];
    const names = places.map(formatPosition);
    expect(names.map(parsePosition)).toEqual(places);
    expect([...names].reverse().sort()).toEqual(names);
    for (const wrong of ["", "12", "0-0", `${names[1]} `, names[1]!.toUpperCase(), `${names[1]}\n`]) {
      expect(parsePosition(wrong)).toBeUndefined();
    }
  });
});

describe("the retention of events", () => {
  const DAY_MS = 86_400_000;
  const idOfAge = (days: number) => v7({ msecs: Date.now() - days * DAY_MS });
  const runIds = async () =>
    (await database.owner.query<{ run_id: string }>("test.run_ids", "select distinct run_id from events")).map(
      ({ run_id }) => run_id,
    );

  it("deletes events after their time, but none of a run that is still open", async () => {
    const [old, open, kept] = [idOfAge(40), idOfAge(35), idOfAge(29)];
    for (const run of [old, open, kept]) await database.db.query("test.event", INSERT, [run, v7(), TENANT]);
    await database.db.query(
      "test.open",
      "insert into open_runs (run_id, tenant_id, lane, deadline_at) values ($1, $2, 'x', now())",
      [open, TENANT],
    );
    expect(await deleteOldEvents(database.db, 30)).toBe(false);
    expect(await runIds()).toEqual(expect.arrayContaining([open, kept]));
    expect(await runIds()).not.toContain(old);
    await database.db.query("test.close", "delete from open_runs where run_id = $1", [open]);
    expect(await deleteOldEvents(database.db, 30)).toBe(false);
    expect(await runIds()).not.toContain(open);
    expect(await runIds()).toContain(kept);
  });
});

describe("the position of a time", () => {
  it("is at or after the last older event, and before the first younger one", async () => {
    const start = await readLogHead(database.db);
    const times = Array.from({ length: 40 }, (_, index) => new Date(Date.UTC(2035, 0, 1, 0, index * 10)));
    for (const at of times) {
      await database.owner.query(
        "test.event_at",
        "insert into events (run_id, event_id, tenant_id, type, created_at) values ($1, $2, $3, 'run.progress', $4)",
        [v7(), v7(), TENANT, at],
      );
    }
    const written = await listEventsAfter(database.db, start, 100);
    for (const [index, event] of written.entries()) {
      const moment = new Date(event.created_at.getTime() + 1000);
      const [row] = await database.owner.query<{ xact: number }>("test.at", "select event_xact_at($1) as xact", [
        moment,
      ]);
      expect(row!.xact).toBeGreaterThanOrEqual(event.xact);
      expect(row!.xact).toBeLessThan(written[index + 1]?.xact ?? Number.POSITIVE_INFINITY);
    }
    expect(written).toHaveLength(times.length);
  });
});
