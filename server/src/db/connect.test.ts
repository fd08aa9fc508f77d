// How lost, read-only and overloaded databases look to the rest of the server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { until } from "../../test/support/until.ts";
import { connectDatabase, type Database } from "./connect.ts";

const UNAVAILABLE = expect.objectContaining({ code: "dependency_unavailable" });
const TIMING = { statementMs: 600, marginMs: 200 };

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
});
afterAll(() => database.stop());

/** A connection whose sessions have these settings. */
const withOptions = async (options: string, use: (db: Database) => Promise<void>) => {
  const url = new URL(database.url);
  await database.owner.query("test.role", `alter role "${url.username}" set ${options}`);
  const db = connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 2 }, null, TIMING);
  try {
    await use(db);
  } finally {
    await db.close();
    await database.owner.query("test.reset", `alter role "${url.username}" reset all`);
  }
};

describe("connectDatabase", () => {
  it("is back within its timeout after the server vanished without closing its connections", async () => {
    const url = new URL(database.url);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const db = connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 4 }, null, TIMING);
    await Promise.all([1, 2, 3, 4].map(() => db.query("test.sleep", "select pg_sleep(0.05)")));
    proxy.freeze();
    const lost = await Promise.allSettled([1, 2, 3, 4].map(() => db.query("test.one", "select 1")));
    expect(lost.map((each) => each.status === "rejected" && each.reason)).toEqual(Array(4).fill(UNAVAILABLE));
    expect(await db.query("test.one", "select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
    await proxy.close();
  });

  it("keeps its minimum of idle connections, so that a burst does not wait until they are open", async () => {
    const IDLE = { ...TIMING, idleMs: 50 };
    const connect = async (name: string, minimum: number) => {
      const url = new URL(database.url);
      const proxy = await startTcpProxy(Number(url.port));
      url.port = String(proxy.port);
      url.searchParams.set("application_name", name);
      const settings = { DATABASE_URL: url.href, DATABASE_POOL: 4, DATABASE_POOL_MIN: minimum };
      const db = connectDatabase(settings, null, IDLE);
      const burst = () => Promise.all([1, 2, 3, 4].map(() => db.query("test.sleep", "select pg_sleep(0.05)")));
      const countOpen = async () => {
        const text = "select count(*)::int as n from pg_stat_activity where application_name = $1";
        return (await database.owner.query<{ n: number }>("test.open", text, [name]))[0]!.n;
      };
      return { db, proxy, burst, countOpen };
    };
    const [kept, closed] = [await connect("kept", 3), await connect("closed", 0)];
    await kept.burst();
    // The second pool is idle later than the first: when all its connections have closed, so have those of the first.
    await closed.burst();
    await until(async () => (await closed.countOpen()) === 0);
    await until(async () => (await kept.countOpen()) <= 3);
    expect(await kept.countOpen()).toBe(3);
    await Promise.all([kept.burst(), closed.burst()]);
    expect([kept.proxy.connectionCount(), closed.proxy.connectionCount()]).toEqual([5, 8]);
    for (const { db, proxy } of [kept, closed]) {
      await db.close();
      await proxy.close();
    }
  });

  it("keeps no more connections than it may open", async () => {
    const settings = { DATABASE_URL: database.url, DATABASE_POOL: 2, DATABASE_POOL_MIN: 16 };
    const db = connectDatabase(settings, null, { ...TIMING, idleMs: 50 });
    const pids = await Promise.all(
      Array.from({ length: 8 }, () => db.query<{ pid: number }>("test.pid", "select pg_backend_pid() as pid")),
    );
    expect(new Set(pids.map(([row]) => row!.pid)).size).toBeLessThanOrEqual(2);
    await db.close();
  });

  it("is not ready on a read-only server, and reports writes there as unavailable", async () => {
    await database.db.ping();
    await withOptions("default_transaction_read_only = on", async (db) => {
      await expect(db.ping()).rejects.toEqual(UNAVAILABLE);
      await expect(db.query("test.write", "delete from leases")).rejects.toEqual(UNAVAILABLE);
    });
  });

  it("reports a statement that PostgreSQL canceled as unavailable", async () => {
    const db = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 1 }, null, TIMING);
    await expect(db.query("test.slow", "select pg_sleep(5)")).rejects.toEqual(UNAVAILABLE);
    await db.close();
  });

  it("reports a deadlock as unavailable", async () => {
    const db = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 2 }, null, {
      statementMs: 8000,
      marginMs: 500,
    });
    const lockBoth = (first: number, second: number) =>
      db.query("test.lock", "select pg_advisory_xact_lock($1), pg_sleep(0.4), pg_advisory_xact_lock($2)", [
        first,
        second,
      ]);
    const ends = await Promise.allSettled([lockBoth(1, 2), lockBoth(2, 1)]);
    expect(
      ends.filter(({ status }) => status === "rejected").map((each) => (each as PromiseRejectedResult).reason),
    ).toEqual([UNAVAILABLE]);
    await db.close();
  });

  it("reports too many connections as unavailable", async () => {
    await database.owner.query("test.limited", "create role limited login password 'limited' connection limit 2");
    const url = new URL(database.url);
    Object.assign(url, { username: "limited", password: "limited" });
    const many = Array.from({ length: 4 }, () =>
      connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 1 }, null, TIMING),
    );
    const ends = await Promise.allSettled(many.map((db) => db.query("test.hold", "select pg_sleep(0.3)")));
    await Promise.all(many.map((db) => db.close()));
    const refused = ends.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.map(({ reason }) => reason)).toEqual([UNAVAILABLE, UNAVAILABLE]);
  });
});
