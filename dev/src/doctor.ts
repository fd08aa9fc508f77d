// Runs the server's doctor, or its check of an upgrade, with the caller's settings. If `gesso dev` runs on the data
// directory, its dependencies are checked too. Returns the exit code: 0 if every check passed, 1 otherwise.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { SERVER_ENTRY } from "./gesso-processes.ts";
import { findLockHolder } from "./lock.ts";
import { loadEnvironment } from "./state.ts";

/** `live`: each upstream model is looked at as well. */
export type DoctorOptions = { data: string; json?: boolean; live?: boolean };

export const runDoctor = (options: DoctorOptions): Promise<number> => runReport("doctor", options);

export const runUpgradeCheck = (options: DoctorOptions): Promise<number> => runReport("upgrade-check", options);

async function runReport(role: "doctor" | "upgrade-check", { data, json, live }: DoctorOptions): Promise<number> {
  const dataDir = resolve(data);
  // Without a running `gesso dev` its saved settings are ignored: doctor would only report its processes as
  // unreachable.
  const { GESSO_CONFIG: _, ...running } = findLockHolder(dataDir) === undefined ? {} : loadEnvironment(dataDir);
  const child = spawn(
    process.execPath,
    [SERVER_ENTRY, "--role", role, ...(json ? ["--json"] : []), ...(live ? ["--live"] : [])],
    {
      stdio: "inherit",
      // gesso.yaml is read from the caller's directory: it may be newer than the running server.
      env: { ...process.env, ...running },
    },
  );
  const [code] = await once(child, "exit");
  return code ?? 1;
}
