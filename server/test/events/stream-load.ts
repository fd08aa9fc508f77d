// Many readers on one API process, each on its own run, while the runs change at a steady rate and readers disconnect
// and reconnect. Reports how long a change takes to reach its reader, and the readers that did not get each event
// exactly once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startPostgres, startServer } from "@gesso/dev/components";
import { connectDatabase, type Database } from "../../src/db/connect.ts";
import { formatPosition, listRunEvents } from "../../src/db/event-log.ts";
import { migrate } from "../../src/db/migrations/migrate.ts";
import { measureCpu } from "../bench/cpu.ts";
import { createTestTenant } from "../support/tenants.ts";
import { createSimulatedRun, type SimulatedRun } from "./simulated-runs.ts";
import { openSseReader, type SseReader } from "./sse-reader.ts";

export type StreamLoad = { clients: number; perSecond: number; seconds: number; disconnects: number };
export type StreamLoadResult = {
  events: number;
  resumed: number;
  /** From before a change was written until its reader had it; what happened while a reader was away is left out. */
  latencyMs: number[];
  /** Runs whose reader did not see exactly their events, in order. */
  wrong: string[];
  cpuSeconds: Record<string, number>;
};

type StreamClient = {
  life: SimulatedRun;
  tenant_id: string;
  key: string;
  seen: string[];
  /** Changes before this time may have been missed, and are delivered late. */
  openSince: number;
  reader?: SseReader;
};

/** State shared by all stream clients. */
type LoadContext = {
  url: string;
  db: Database;
  storm: StreamLoad;
  outcome: StreamLoadResult;
  sentAt: Map<string, number>;
};

const TENANTS = 10;
const LONGEST_AWAY_MS = 2000;
const AT_ONCE = 16;
/** Progress is reported in steps large enough to be sent, and ends before the run does. */
const STEP = 0.05;
const MOST_STEPS = 18;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
const nameOf = (run_id: string, progress: number) => `${run_id} ${progress}`;

export async function runStreamLoad(storm: StreamLoad): Promise<StreamLoadResult> {
  const dir = mkdtempSync(join(tmpdir(), "gesso-storm-"));
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), port: await freePort() });
  await migrate(postgres.url);
  const db = connectDatabase({ DATABASE_URL: postgres.url, DATABASE_POOL: 8 });
  const api = await startApiProcess(dir, postgres.url);
  const outcome: StreamLoadResult = { events: 0, resumed: 0, latencyMs: [], wrong: [], cpuSeconds: {} };
  const shared: LoadContext = { url: api.url, db, storm, outcome, sentAt: new Map() };
  try {
    const clients = await openClients(shared);
    const { cpu } = await measureCpu({ api: api.pid, postgres: postgres.pid }, () => writeEvents(shared, clients));
    outcome.cpuSeconds = cpu;
    await Promise.all(clients.map(({ reader }) => reader!.ended));
    for (const client of clients) if (!(await sawEveryEvent(db, client))) outcome.wrong.push(client.life.run_id);
    return outcome;
  } finally {
    await db.close();
    await api.stop();
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startApiProcess(dir: string, databaseUrl: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...{ HOST: "127.0.0.1", PORT: String(port), PUBLIC_URL: url, DATABASE_URL: databaseUrl, LOG_LEVEL: "error" },
    ...{ GESSO_SECRET: "a secret of tests that is long enough to be one", STORAGE: "disk" },
    ...{ STORAGE_DIR: join(dir, "files"), LOCAL_MODELS_DIR: join(dir, "no-models") },
    ...{ SANDBOX_URL: "http://127.0.0.1:9", SANDBOX_KEY: "x" },
  };
  const part = await startServer({ dataDir: join(dir, "api"), url, role: "api", name: "api", environment });
  return { url, pid: part.pid, stop: () => part.stop() };
}

/** All runs have begun and all readers are there before the first change. */
async function openClients(shared: LoadContext): Promise<StreamClient[]> {
  const { db, url, storm } = shared;
  const query = ((text: string, values: unknown[]) => db.query(`storm.${text.length}`, text, values)) as never;
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => createTestTenant({ url, query })));
  const clients: StreamClient[] = [];
  for (let n = 0; n < storm.clients; n += AT_ONCE) {
    const few = Array.from({ length: Math.min(AT_ONCE, storm.clients - n) }, async (_, index) => {
      const { tenant_id, key } = tenants[(n + index) % TENANTS]!;
      const life = await createSimulatedRun(db, tenant_id, { metadata: {} });
      await life.begin();
      const client: StreamClient = { life, tenant_id, key, seen: [], openSince: 0 };
      await open(shared, client);
      return client;
    });
    clients.push(...(await Promise.all(few)));
  }
  return clients;
}

async function open({ url, outcome, sentAt }: LoadContext, client: StreamClient): Promise<void> {
  const { life, key, seen } = client;
  client.reader = await openSseReader({
    ...{ url, key, path: `/runs/${life.run_id}/events`, lastEventId: seen.at(-1) },
    onHeard: ({ id, event, at }) => {
      seen.push(id);
      const sent = sentAt.get(nameOf(life.run_id, event.data.progress));
      if (sent !== undefined && sent > client.openSince) outcome.latencyMs.push(at - sent);
    },
  });
  client.openSince = performance.now();
}

async function writeEvents(shared: LoadContext, clients: StreamClient[]): Promise<void> {
  const { storm, outcome, sentAt } = shared;
  const everyMs = 1000 / storm.perSecond;
  const changes = Math.min(storm.seconds * storm.perSecond, clients.length * MOST_STEPS);
  const begun = performance.now();
  const pending: Promise<unknown>[] = [disconnectSome(shared, clients, (changes * everyMs) / 1000)];
  const change = async (n: number, work: (life: SimulatedRun, progress: number) => Promise<unknown>) => {
    await pause(begun + n * everyMs - performance.now());
    const { life } = clients[n % clients.length]!;
    const progress = n < changes ? Math.round(1000 * STEP * (1 + Math.floor(n / clients.length))) / 1000 : 1;
    sentAt.set(nameOf(life.run_id, progress), performance.now());
    outcome.events++;
    pending.push(work(life, progress));
  };
  for (let n = 0; n < changes; n++) await change(n, (life, progress) => life.progress(progress));
  await Promise.all(pending);
  const late = Math.ceil((performance.now() - begun) / everyMs);
  const first = Math.max(changes, Math.ceil(late / clients.length) * clients.length);
  for (let n = first; n < first + clients.length; n++) await change(n, (life) => life.complete());
  await Promise.all(pending);
}

/** Each at a moment of its own; it is away for a while and comes back with the last id that it has. */
async function disconnectSome(shared: LoadContext, clients: StreamClient[], seconds: number): Promise<void> {
  const chosen = [...clients].sort(() => Math.random() - 0.5).slice(0, shared.storm.disconnects);
  await Promise.all(
    chosen.map(async (client) => {
      await pause(Math.random() * (seconds * 1000 - LONGEST_AWAY_MS));
      client.reader!.cut();
      await pause(Math.random() * LONGEST_AWAY_MS);
      await open(shared, client);
      shared.outcome.resumed++;
    }),
  );
}

async function sawEveryEvent(db: Database, { life, tenant_id, seen }: StreamClient): Promise<boolean> {
  const events = await listRunEvents(db, tenant_id, life.run_id);
  return events.at(-1)?.terminal === true && events.map(formatPosition).join() === seen.join();
}
