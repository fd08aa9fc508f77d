// Starts PostgreSQL 18 as a child process. Committed rows survive kill -9 and a restart on the same data and port.
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type ManagedProcess, type ProcessSpec, startProcess } from "./managed-process.ts";
import { DATABASE_USER, preparePostgresCluster } from "./postgres-cluster.ts";
import { clearStalePid, killOrphanedBackends } from "./postgres-stale-processes.ts";

export type PostgresOptions = {
  dataDir: string;
  port: number;
  /** Created if it does not exist. Default: gesso. */
  database?: string;
  /** Server settings, as on the command line: `{ shared_buffers: "256MB" }`. */
  settings?: Record<string, string>;
  /** Further variables of its environment. */
  environment?: Record<string, string>;
};

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  // The path of a data directory may exceed the maximum length of a Unix socket path.
  unix_socket_directories: "",
  shared_buffers: "64MB",
  fsync: "on",
  timezone: "UTC",
  log_timezone: "UTC",
};

// Messages of PostgreSQL while backends of its killed predecessor still run.
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
    ...cluster.postgres(
      ["-D", cluster.data, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      options.environment,
    ),
    log: join(directory, "postgres.log"),
    environment: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    directory: cluster.data,
    probe: () => hasDatabase(url, database),
    // Fast shutdown. SIGTERM would wait until every client has disconnected.
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
      // A backend inside a long computation does not notice that its postmaster has exited.
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
  // An error event without a listener would end this process; the promises below report the same error.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}
