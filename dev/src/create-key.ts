// Creates an API key with the server's program, for an operator who has lost all others. It uses the database
// that the environment names, or that of the `gesso dev` that runs on the data directory. Returns the exit code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { SERVER_ENTRY } from "./gesso-processes.ts";
import { findLockHolder } from "./lock.ts";
import { loadEnvironment } from "./state.ts";

export type CreateKeyOptions = { data: string; name?: string; tenant?: string; json?: boolean };

export async function createKey({ data, name, tenant, json }: CreateKeyOptions): Promise<number> {
  const dataDir = resolve(data);
  const { DATABASE_URL, DATABASE_URL_FILE } = process.env;
  const isNamed = Boolean(DATABASE_URL || DATABASE_URL_FILE);
  const isRunning = findLockHolder(dataDir) !== undefined;
  if (!isNamed && !isRunning) {
    process.stderr.write(
      `gesso admin create-key: DATABASE_URL is not set, and no gesso dev runs on ${dataDir}.\n` +
        "Set DATABASE_URL on the machine of the server, or start gesso dev.\n",
    );
    return 1;
  }
  const running = isNamed ? {} : loadEnvironment(dataDir);
  const flags = [
    ...(name === undefined ? [] : [`--name=${name}`]),
    ...(tenant === undefined ? [] : [`--tenant=${tenant}`]),
    ...(json ? ["--json"] : []),
  ];
  const child = spawn(process.execPath, [SERVER_ENTRY, "--role", "create-key", ...flags], {
    stdio: "inherit",
    env: { ...running, ...process.env },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}
