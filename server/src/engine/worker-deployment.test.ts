// The deployment of a worker keeps its lease and waits for its runs although PostgreSQL or the engine fails or responds
// slowly. Workers and database are on one clock, which the test moves; the engine is an HTTP server.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../test/support/database-clock.ts";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { createEngineAdmin, type EngineAdmin } from "./engine-admin.ts";
import { listServedUris, startWorkerDeployment, type WorkerDeployment } from "./worker-deployment.ts";

const OLD = "http://old:9080/v/a";
const NEW = "http://new:9080/v/b";
const LEASE_MS = 10_000;

/** The admin API of an engine that knows two deployments. */
const startEngine = async () => {
  const engine = {
    latest: OLD,
    /** Invocations that only the old version can continue. */
    pinned: 12,
    /** The next requests fail, this many. */
    failures: 0,
    /** Resolves when requests are to be responded to. */
    ready: Promise.resolve(),
    url: "",
    close: async () => {},
  };
  const respond: RequestListener = async (request, response) => {
    const body = JSON.parse((await request.toArray()).join("") || "{}");
    await engine.ready;
    const reply = (status: number, json: object) => response.writeHead(status).end(JSON.stringify(json));
    if (engine.failures > 0) return reply(500, { message: `${engine.failures--} more failures` });
    if (request.url === "/query") return reply(200, { rows: [{ open: engine.pinned }] });
    if (request.url === "/services/Run") return reply(200, { deployment_id: engine.latest });
    if (request.method === "POST") engine.latest = body.uri;
    return reply(200, { deployments: [OLD, NEW].map((uri) => ({ id: uri, uri })) });
  };
  const server = createServer((...exchange) => void respond(...exchange));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  engine.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  engine.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return engine;
};

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
});
afterAll(() => database?.stop());

let clock: ManualClock;
let db: Database;
let engine: Awaited<ReturnType<typeof startEngine>>;
let messages: string[];
let isCutOff: boolean;
let workers: WorkerDeployment[];
let requests: Set<Promise<unknown>>;
beforeEach(async () => {
  clock = createManualClock();
  db = connectOnClock(database, clock);
  await db.query("test.clear", "delete from leases");
  engine = await startEngine();
  [isCutOff, workers, requests] = [false, [], new Set()];
  // The clock waits for responses of the engine, unless the engine hangs.
  clock.settleWith(async () => {
    for (;;) {
      await turnOfEventLoop();
      if (requests.size === 0 || engine.ready !== READY) return;
      await Promise.all(requests);
    }
  });
  engine.ready = READY;
});
afterEach(async () => {
  engine.ready = READY;
  const stopped = Promise.all(workers.map((worker) => worker.stop()));
  await clock.advance(LEASE_MS);
  await stopped;
  await engine.close();
  await db.close();
});
const READY = Promise.resolve();

const trackedAdmin = (): EngineAdmin => {
  const admin = createEngineAdmin(engine.url);
  const track =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A) => {
      const result = call(...args);
      const ended: Promise<unknown> = result.then(
        () => requests.delete(ended),
        () => requests.delete(ended),
      );
      requests.add(ended);
      return result;
    };
  return {
    ...admin,
    listDeployments: track(admin.listDeployments),
    register: track(admin.register),
    countPinnedInvocations: track(admin.countPinnedInvocations),
  };
};
const startWorker = async (uri: string) => {
  const memory = createMemoryLog();
  messages = memory.messages;
  const execute: Database["execute"] = (...statement) =>
    isCutOff ? Promise.reject(new Error("cut off")) : db.execute(...statement);
  const services = { database: { ...db, execute }, clock, ids: { next: v7 }, log: memory.log };
  const worker = await startWorkerDeployment(services, trackedAdmin(), uri);
  workers.push(worker);
  return worker;
};
/** A drain of 60 s, and whether it has ended. */
const startDrain = (worker: WorkerDeployment, seconds = 60) => {
  const drain = { hasEnded: false, result: Promise.resolve("") };
  drain.result = worker
    .drain(seconds)
    .then(
      () => "done",
      (thrown: Error) => `failed: ${thrown.message}`,
    )
    .finally(() => {
      drain.hasEnded = true;
    });
  return drain;
};

it("a worker keeps its lease while the admin API of the engine does not respond", async () => {
  await startWorker(NEW);
  const { promise, resolve } = Promise.withResolvers<void>();
  await clock.advance(1000);
  engine.ready = promise;
  const served: string[][] = [];
  for (let seconds = 0; seconds < 30; seconds++) {
    await clock.advance(1000);
    served.push(await listServedUris(db, "serving"));
  }
  engine.ready = READY;
  resolve();
  expect(served).toEqual(Array.from({ length: 30 }, () => [NEW]));
});

it("a worker whose registration hangs has a lease all the time", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  engine.ready = promise;
  const starting = startWorker(NEW);
  await clock.waitForTimer(3000);
  await clock.advance(3 * LEASE_MS);
  expect(await listServedUris(db, "serving")).toEqual([NEW]);
  engine.ready = READY;
  resolve();
  await starting;
});

it.each([
  ["the engine fails", { failures: 3, cut: false }],
  ["PostgreSQL is away", { failures: 0, cut: true }],
])(
  "the last worker of a version waits for its runs although %s when it begins to drain",
  async (_, { failures, cut }) => {
    await startWorker(NEW);
    const old = await startWorker(OLD);
    engine.failures = failures;
    isCutOff = cut;
    const drain = startDrain(old);
    await clock.advance(3000);
    isCutOff = false;
    await clock.advance(20_000);
    expect([drain.hasEnded, engine.latest]).toEqual([false, NEW]);
    expect(await listServedUris(db, "draining")).toEqual([OLD]);
    expect(messages).toContain("draining this version failed; it tries again");
    engine.pinned = 0;
    await clock.advance(1000);
    expect(await drain.result).toBe("done");
  },
);

it("a drain ends in time although the engine never responds again", async () => {
  await startWorker(NEW);
  const old = await startWorker(OLD);
  engine.failures = Number.POSITIVE_INFINITY;
  const drain = startDrain(old, 60);
  await clock.advance(59_000);
  expect(drain.hasEnded).toBe(false);
  await clock.advance(2000);
  expect(await drain.result).toMatch(/^failed/);
  engine.failures = 0;
});

it("a drain that an operator ends stops trying", async () => {
  await startWorker(NEW);
  const old = await startWorker(OLD);
  engine.failures = Number.POSITIVE_INFINITY;
  const abort = new AbortController();
  const drain = old.drain(Number.POSITIVE_INFINITY, abort.signal).catch(() => "stopped");
  await clock.advance(5000);
  abort.abort();
  await clock.advance(1000);
  expect(await drain).toBe("stopped");
  engine.failures = 0;
});
