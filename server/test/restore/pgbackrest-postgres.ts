// A PostgreSQL of Debian with backups by pgBackRest: encrypted, with a WAL archive, and restored to a point in time on
// another port.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAccount, commandAs, freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";
import pg from "pg";
import { findPostgresBinaries } from "../support/debian-postgres.ts";
import { findProgram } from "../support/installed-programs.ts";
import { type ArchivedPostgres, waitUntilWritable } from "./archived-postgres.ts";

const STANZA = "--stanza=gesso";
const SETTINGS = {
  ...{ listen_addresses: "127.0.0.1", max_connections: "200", shared_buffers: "64MB", timezone: "UTC" },
  ...{ wal_level: "replica" },
};

export async function startPgBackRestPostgres(directory: string): Promise<ArchivedPostgres> {
  const [data, restoredData, port] = [join(directory, "data"), join(directory, "restored"), await freePort()];
  const account = chooseAccount(data);
  const binaries = findPostgresBinaries();
  const pgbackrest = [
    findProgram("pgbackrest", "pgbackrest"),
    `--config=${join(directory, "pgbackrest.conf")}`,
    STANZA,
  ];
  const run = (command: string, parameters: string[]) =>
    execFileSync(command, parameters, {
      ...(account && { uid: account.uid, gid: account.gid }),
      ...{ cwd: directory, env: { PATH: process.env.PATH, HOME: directory }, stdio: "pipe" },
    });
  const start = (dataDirectory: string, at: number, settings: Record<string, string>) =>
    startServer({
      binaries,
      account,
      data: dataDirectory,
      port: at,
      directory,
      settings: { ...SETTINGS, ...settings },
    });

  for (const path of [directory, ...["repo", "lock", "spool"].map((name) => join(directory, name)), restoredData]) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o700);
    if (account) chownSync(path, account.uid, account.gid);
  }
  writeFileSync(join(directory, "pgbackrest.conf"), buildConfig(directory, data, port));
  chmodSync(join(directory, "pgbackrest.conf"), 0o644);
  run(join(binaries, "initdb"), ["-D", data, "-U", "gesso", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust"]);
  const archive_command = [...pgbackrest, "archive-push", "%p"].join(" ");
  const server = await start(data, port, { archive_mode: "on", archive_timeout: "1s", archive_command });
  run(pgbackrest[0]!, [...pgbackrest.slice(1), "stanza-create"]);
  return {
    ...{ server, port, directory },
    backUp: async () => {
      run(pgbackrest[0]!, [...pgbackrest.slice(1), "--type=full", "backup"]);
    },
    async restore(time) {
      const target = ["--type=time", `--target=${time}`, "--target-action=promote"];
      run(pgbackrest[0]!, [...pgbackrest.slice(1), `--pg1-path=${restoredData}`, ...target, "restore"]);
      const restoredPort = await freePort();
      const restored = await start(restoredData, restoredPort, { archive_mode: "off" });
      await waitUntilWritable(restored.url);
      return { server: restored, port: restoredPort };
    },
  };
}

const buildConfig = (directory: string, data: string, port: number) =>
  [
    "[global]",
    ...["repo", "lock", "spool"].map((name) => `${name === "repo" ? "repo1" : name}-path=${join(directory, name)}`),
    ...["repo1-cipher-type=aes-256-cbc", "repo1-cipher-pass=passphrase-of-drills", "repo1-retention-full=2"],
    ...["start-fast=y", "log-level-console=warn", "log-level-file=off", "compress-type=lz4"],
    "[gesso]",
    ...[`pg1-path=${data}`, `pg1-port=${port}`, `pg1-socket-path=${directory}`, "pg1-user=gesso"],
    "",
  ].join("\n");

type ServerPlan = {
  binaries: string;
  account: ReturnType<typeof chooseAccount>;
  data: string;
  port: number;
  directory: string;
  settings: Record<string, string>;
};

/** Its account needs no password, because it listens on loopback only. */
function startServer({ binaries, account, data, port, directory, settings }: ServerPlan): Promise<ManagedProcess> {
  const all = { ...settings, port: String(port), unix_socket_directories: directory };
  const parameters = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const url = `postgres://gesso@127.0.0.1:${port}/gesso`;
  return startProcess({
    name: "postgres",
    url,
    ...commandAs(account, [binaries, data], [join(binaries, "postgres"), "-D", data, ...parameters]),
    log: join(directory, `postgres-${port}.log`),
    environment: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8" },
    directory: data,
    probe: () => hasDatabase(port),
    stopSignal: "SIGINT",
  });
}

async function hasDatabase(port: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: `postgres://gesso@127.0.0.1:${port}/postgres` });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query("select from pg_database where datname = 'gesso'");
    if (rowCount === 0) await client.query("create database gesso");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
