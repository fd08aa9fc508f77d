// Cleans up after a postmaster that was killed with -9: it leaves its pid file and, for a while, its backends. Two
// postmasters never run on the same data.
import { writeFileSync } from "node:fs";
import { isAlive, listPids, pidExists, processName, readText, workingDirectoryOf } from "./process-info.ts";

// Greater than any pid that the system assigns.
const UNUSED_PID = "2147483646";

/**
 * PostgreSQL trusts a pid file whose pid exists, even if the pid now belongs to another program or to a zombie (both
 * are common in containers). Only the pid is replaced: the rest of the file names the shared memory segment, by which
 * PostgreSQL still detects running backends.
 */
export function clearStalePid(data: string): void {
  const path = `${data}/postmaster.pid`;
  const lines = readText(path)?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!pidExists(pid) || isPostgres(pid)) return;
  writeFileSync(path, [UNUSED_PID, ...lines.slice(1)].join("\n"));
}

/** Kills the backends that a killed postmaster left on this data directory. Does nothing on systems without /proc. */
export function killOrphanedBackends(data: string): void {
  const postmaster = Number(readText(`${data}/postmaster.pid`)?.split("\n")[0]);
  if (isPostgres(postmaster)) return;
  for (const pid of listPids()) {
    if (isPostgres(pid) && workingDirectoryOf(pid) === data) process.kill(pid, "SIGKILL");
  }
}

/** True if the process name is unknown: a false "data is in use" error is safer than opening the data twice. */
function isPostgres(pid: number): boolean {
  return isAlive(pid) && (processName(pid)?.startsWith("postgres") ?? true);
}
