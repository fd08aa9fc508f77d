// Starts PostgreSQL 18 as our own child: committed rows survive kill -9 and a new start on the same data and port.
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type ManagedProcess, type ProcessSpec, startProcess } from "./managed-process.ts";
import { DATABASE_USER, preparePostgresCluster } from "./postgres-cluster.ts";
import { clearStalePid, killOrphanedBackends } from "./postgres-stale-processes.ts";

export type PostgresOptions = {
  dataDir: string;
  port: number;
  /** Made when it is not there. */
  database?: string;
  /** Server settings, as on the command line: `{ shared_buffers: "256MB" }`. */
  settings?: Record<string, string>;
};

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  // The path of a data directory may be longer than a socket's path can be.
  unix_socket_directories: "",
  shared_buffers: "64MB",
  fsync: "on",
  timezone: "UTC",
  log_timezone: "UTC",
};

// What PostgreSQL says while its killed predecessor is not quite gone.
const PREDECESSOR_RUNNING = /pre-existing shared memory block|lock file "postmaster.pid" already exists/;
const PREDECESSOR_WAIT_SECONDS = 6;
const ORPHAN_SECONDS = 2;

export async function startPostgres(options: PostgresOptions): Promise<ManagedProcess> {
  const directory = resolve(options.dataDir);
  const database = options.database ?? "gesso";
  const cluster = await preparePostgresCluster(directory);
  const url = `postgres://${DATABASE_USER}:${cluster.password}@127.0.0.1:${options.port}/${database}`;
  const settings = Object.entries({ ...SETTINGS, ...options.settings, port: String(options.port) });
  const plan: ProcessSpec = {
    name: "postgres",
    url,
    ...cluster.postgres(["-D", cluster.data, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])]),
    log: join(directory, "postgres.log"),
    environment: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    directory: cluster.data,
    probe: () => hasDatabase(url, database),
    // Fast shutdown. SIGTERM would wait until every client has left by itself.
    stopSignal: "SIGINT",
  };
  return spawnAfterPredecessor(plan, cluster.data);
}

async function spawnAfterPredecessor(plan: ProcessSpec, data: string): Promise<ManagedProcess> {
  const start = performance.now();
  for (;;) {
    clearStalePid(data);
    try {
      return await startProcess(plan);
    } catch (error) {
      const seconds = (performance.now() - start) / 1000;
      if (seconds > PREDECESSOR_WAIT_SECONDS || !PREDECESSOR_RUNNING.test(String(error))) throw error;
      // A backend in the middle of a long computation does not notice that its postmaster is dead.
      if (seconds > ORPHAN_SECONDS) killOrphanedBackends(data);
      await sleep(100);
    }
  }
}

async function hasDatabase(url: string, database: string): Promise<boolean> {
  try {
    await query(url, "select 1");
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "3D000") return false;
    const root = new URL(url);
    root.pathname = "/postgres";
    await query(root.href, `create database ${pg.escapeIdentifier(database)}`);
    return true;
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  // An error event without a listener would end our process; the promise below says the same.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}
