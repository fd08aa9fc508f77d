// A primary and a synchronous streaming standby: two PostgreSQL processes. The standby starts from a backup of the
// primary's data directory, taken while the primary runs.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type ManagedProcess, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { takeBaseBackup } from "../support/base-backup.ts";

const STANDBY_NAME = "standby1";
const SETTINGS = { max_connections: "200", wal_level: "replica", max_wal_senders: "5", wal_keep_size: "1GB" };

export type PostgresPair = {
  primary: ManagedProcess;
  standby: ManagedProcess;
  primaryPort: number;
  standbyPort: number;
  /** Makes the standby a primary; resolves when it accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

export async function startPostgresPair(directory: string): Promise<PostgresPair> {
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  const directories = { primary: join(directory, "primary"), standby: join(directory, "standby") };
  const primary = await startPostgres({ dataDir: directories.primary, port: primaryPort, settings: SETTINGS });
  const { primary: from, standby: to } = directories;
  await takeBaseBackup(primary.url, { from, to, signal: "standby.signal" });
  const { username, password } = new URL(primary.url);
  const standby = await startPostgres({
    dataDir: directories.standby,
    port: standbyPort,
    settings: {
      ...SETTINGS,
      primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=${username} password=${password} application_name=${STANDBY_NAME}`,
    },
  });
  await query(primary.url, `alter system set synchronous_standby_names = '${STANDBY_NAME}'`);
  await query(primary.url, "select pg_reload_conf()");
  await waitForSynchronousStandby(primary.url);
  return {
    primary,
    standby,
    primaryPort,
    standbyPort,
    promote: async () => {
      await query(standby.url, "select pg_promote(true, 60)");
    },
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}

async function waitForSynchronousStandby(url: string): Promise<void> {
  for (const until = Date.now() + 30_000; ; await sleep(100)) {
    const rows = await query(url, "select 1 from pg_stat_replication where sync_state = 'sync'");
    if (rows.length > 0) return;
    if (Date.now() > until) throw new Error("the standby is not synchronous");
  }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
