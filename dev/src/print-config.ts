// Prints the server's settings, as the server in this directory would read them. If `gesso dev` runs on the data
// directory, its settings are included. Returns the exit code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { SERVER_ENTRY } from "./gesso-processes.ts";
import { findLockHolder } from "./lock.ts";
import { loadEnvironment } from "./state.ts";

export type PrintConfigOptions = { data: string; sources?: boolean; json?: boolean };

export async function printConfig({ data, sources, json }: PrintConfigOptions): Promise<number> {
  const dataDir = resolve(data);
  const running = findLockHolder(dataDir) === undefined ? {} : loadEnvironment(dataDir);
  const own = Object.keys(running).filter((name) => running[name] !== process.env[name]);
  const flags = [...(sources ? ["--sources"] : []), ...(json ? ["--json"] : []), "--dev-settings", own.join(",")];
  const child = spawn(process.execPath, [SERVER_ENTRY, "--role", "config", ...flags], {
    stdio: "inherit",
    env: { ...process.env, ...running },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}
