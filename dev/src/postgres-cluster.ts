// Creates a PostgreSQL data directory atomically on first use and stores its password.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { chooseAccount, commandAs, type SpawnCommand, type SystemAccount } from "./postgres-account.ts";
import { findPostgresPrograms } from "./programs/postgres-programs.ts";

export const DATABASE_USER = "gesso";

export type PostgresCluster = {
  data: string;
  password: string;
  /**
   * The command that runs `postgres` with these parameters under the right account. Only this program gets the
   * variables, not one that changes the account before.
   */
  postgres: (parameters: string[], variables?: Record<string, string>) => SpawnCommand;
};

export async function preparePostgresCluster(directory: string): Promise<PostgresCluster> {
  mkdirSync(directory, { recursive: true });
  const data = join(directory, "data");
  const account = chooseAccount(data);
  const programs = await findPostgresPrograms();
  const password = loadOrCreatePassword(join(directory, "password"), account);
  const runAsAccount = (program: string, parameters: string[], variables: Record<string, string> = {}) => {
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const prefix = assignments.length > 0 ? ["env", ...assignments] : [];
    return commandAs(account, [program, directory], [...prefix, program, ...parameters]);
  };
  if (!existsSync(data))
    await initializeData(directory, account, (parameters) => runAsAccount(programs.initdb, parameters));
  return {
    data,
    password,
    postgres: (parameters, variables) => runAsAccount(programs.postgres, parameters, variables),
  };
}

function loadOrCreatePassword(path: string, account: SystemAccount | undefined): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString("base64url"), { mode: 0o600 });
  if (account) chownSync(path, account.uid, account.gid);
  return readFileSync(path, "utf8").trim();
}

/** initdb writes to a draft directory that is then renamed, so a crash never leaves an incomplete data directory. */
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
    // The same sort order on every machine, independent of its locale.
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
  ]);
  const [file = "", ...parameters] = command;
  const environment = { PATH: process.env.PATH ?? "", LC_ALL: "C" };
  await promisify(execFile)(file, parameters, { cwd: draft, env: environment, ...user });
  renameSync(draft, join(directory, "data"));
}
