// `gesso doctor`: the server's own doctor with the settings of the caller, and with the parts of the `gesso dev` that
// runs on the data directory, if one does. Returns the exit code: 0 when all is well, 1 when something does not work.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { SERVER_ENTRY } from "./gesso-processes.ts";
import { findLockHolder } from "./lock.ts";
import { loadEnvironment } from "./state.ts";

export type DoctorOptions = { data: string; json?: boolean };

export async function runDoctor({ data, json }: DoctorOptions): Promise<number> {
  const dataDir = resolve(data);
  // Without a running `gesso dev` its saved settings are ignored: doctor would only report its processes as unreachable.
  const { GESSO_CONFIG: _, ...parts } = findLockHolder(dataDir) === undefined ? {} : loadEnvironment(dataDir);
  const child = spawn(process.execPath, [SERVER_ENTRY, "--role", "doctor", ...(json ? ["--json"] : [])], {
    stdio: "inherit",
    // The operator's file is the one of the caller: it may be newer than the server that runs.
    env: { ...process.env, ...parts },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}
