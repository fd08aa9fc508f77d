// A PostgreSQL that archives its WAL, with a base backup, and its restore to a point in time on another port.
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type ManagedProcess, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { takeBaseBackup } from "../support/base-backup.ts";

const SETTINGS = { max_connections: "200", wal_level: "replica" };

export type ArchivedPostgres = {
  server: ManagedProcess;
  port: number;
  directory: string;
  /** `name`: the folder of the backup below `directory`. `restore` starts the one without a name. */
  backUp(name?: string): Promise<void>;
  /** Starts a server from the backup and replays the archive up to the given time. Resolves when it accepts writes. */
  restore(time: string): Promise<{ server: ManagedProcess; port: number }>;
};

/** `archiveSeconds`: a segment of the log is archived after this time, even if it is not full. */
export async function startArchivedPostgres(directory: string, { archiveSeconds = 1 } = {}): Promise<ArchivedPostgres> {
  const archive = join(directory, "archive");
  const [main, backup] = [join(directory, "main"), join(directory, "backup")];
  const port = await freePort();
  mkdirSync(archive, { recursive: true });
  const server = await startPostgres({
    dataDir: main,
    port,
    settings: {
      ...SETTINGS,
      ...{ archive_mode: "on", archive_timeout: `${archiveSeconds}s`, archive_command: `cp %p ${archive}/%f` },
    },
  });
  // As root, PostgreSQL runs under another account.
  const owner = statSync(join(main, "data"));
  chownSync(archive, owner.uid, owner.gid);
  return {
    server,
    port,
    directory,
    backUp: (name = "backup") =>
      takeBaseBackup(server.url, { from: main, to: join(directory, name), signal: "recovery.signal" }),
    async restore(time) {
      const restoredPort = await freePort();
      const restored = await startPostgres({
        dataDir: backup,
        port: restoredPort,
        settings: {
          ...SETTINGS,
          restore_command: `cp ${archive}/%f %p`,
          recovery_target_time: time,
          recovery_target_action: "promote",
        },
      });
      await waitUntilWritable(restored.url);
      return { server: restored, port: restoredPort };
    },
  };
}

/** Resolves when the server has left recovery. */
export async function waitUntilWritable(url: string): Promise<void> {
  for (const until = Date.now() + 120_000; Date.now() < until; await sleep(100)) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query("select pg_is_in_recovery() as is_recovering");
      if (!rows[0].is_recovering) return;
    } catch {
      // It does not accept connections yet.
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error("the restored server is still in recovery");
}
