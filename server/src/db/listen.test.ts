// LISTEN connections through outages: a server that is away, one that refuses, one that vanishes without closing.

import { createServer, type Server, type Socket } from "node:net";
import { freePort } from "@gesso/dev/components";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/tcp-proxy.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { until } from "../../test/support/until.ts";
import { listen } from "./listen.ts";

/** The timeout is the driver's, in real time: long enough for a connection on a busy machine. */
const TIMING = { heartbeatMs: 200, timeoutMs: 5000, backoff: { firstMs: 50, maxMs: 400 } };

let database: TestDatabase;
let clock: ManualClock;
const closers: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
});
beforeEach(() => {
  clock = createManualClock();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => database.stop());

const open = async (url: string, payloads: string[] = [], timing = TIMING) => {
  const channel = "listen_test";
  const close = await listen({
    url,
    channel,
    onNotification: (p) => payloads.push(p),
    clock,
    random: () => 0.5,
    timing,
  });
  closers.push(close);
  return close;
};
const proxied = async (): Promise<{ proxy: TcpProxy; url: string }> => {
  const target = new URL(database.url);
  const proxy = await startTcpProxy(Number(target.port));
  closers.push(proxy.close);
  target.port = String(proxy.port);
  return { proxy, url: target.href };
};
const notify = async (payload: string) => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("select pg_notify('listen_test', $1)", [payload]);
  await client.end();
};
const sessions = async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    "select count(*)::int as n from pg_stat_activity where query ilike 'listen%' or query = 'select 1'",
  );
  await client.end();
  return rows[0].n as number;
};

describe("listen", () => {
  it("delivers notifications, and an empty payload after each connect", async () => {
    const payloads: string[] = [];
    await open(database.url, payloads);
    await notify("one");
    await until(() => payloads.includes("one"));
    expect(payloads).toEqual(["", "one"]);
  });

  it("has one connection attempt at a time while the server refuses every connection", async () => {
    let attempts = 0;
    let isOpen = 0;
    let mostOpen = 0;
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      attempts++;
      isOpen++;
      mostOpen = Math.max(mostOpen, isOpen);
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => isOpen--);
      setImmediate(() => socket.destroy());
    });
    const port = await freePort();
    await new Promise<void>((ready) => server.listen(port, "127.0.0.1", ready));
    closers.push(() => new Promise((done) => server.close(done)));
    await open(`postgres://x:y@127.0.0.1:${port}/x`);
    for (const [failures, delayMs] of [100, 200, 400, 400, 400].entries()) {
      await clock.waitForTimer(delayMs);
      expect(attempts).toBe(failures + 1);
      await clock.advance(delayMs - 1);
      expect([attempts, clock.timers().length]).toEqual([failures + 1, 1]);
      await clock.advance(1);
    }
    await clock.waitForTimer(400);
    expect([attempts, mostOpen]).toEqual([6, 1]);
  });

  it("comes back after an outage with one session, and says that notifications may be missing", async () => {
    const payloads: string[] = [];
    const { proxy, url } = await proxied();
    await open(url, payloads);
    const before = await sessions();
    proxy.refuse(true);
    proxy.cut();
    // The first attempts fail: after 50 ms, and 100 ms later.
    await clock.waitForTimer(50);
    await clock.advance(50);
    await clock.waitForTimer(100);
    await clock.advance(100);
    await clock.waitForTimer(200);
    proxy.refuse(false);
    await clock.advance(200);
    await until(() => payloads.filter((payload) => payload === "").length === 2);
    await notify("after");
    await until(() => payloads.includes("after"));
    await until(async () => (await sessions()) === before);
  });

  it("notices a server that vanished without closing the connection", async () => {
    const payloads: string[] = [];
    const { proxy, url } = await proxied();
    await open(url, payloads);
    proxy.freeze();
    await clock.waitForTimer(TIMING.heartbeatMs);
    await clock.advance(TIMING.heartbeatMs);
    // The heartbeat gets no response within its timeout.
    await clock.waitForTimer(100);
    await clock.advance(100);
    await until(() => payloads.filter((payload) => payload === "").length === 2);
    await notify("after the silence");
    await until(() => payloads.includes("after the silence"));
  });

  it("closes at once, also in the middle of an outage", async () => {
    const { proxy, url } = await proxied();
    // No timeout ends in time to help: the clock stands still, and those of the driver are longer than the test.
    const close = await open(url, [], { ...TIMING, timeoutMs: 3_600_000 });
    proxy.freeze();
    proxy.refuse(true);
    await clock.waitForTimer(TIMING.heartbeatMs);
    await clock.advance(TIMING.heartbeatMs);
    await close();
    expect(clock.timers()).toEqual([]);
  });
});
