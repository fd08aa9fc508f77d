// After kill -9 a postmaster leaves its pid file and, for a while, its backends. This clears the way for the next one
// without ever letting two live side by side on the same data.
import { writeFileSync } from "node:fs";
import { isAlive, listPids, pidExists, processName, readText, workingDirectoryOf } from "./process-info.ts";

// Greater than any pid that a system hands out.
const UNUSED_PID = "2147483646";

/**
 * PostgreSQL believes a pid file whose pid is taken, even when the pid belongs to some other program by now or to a
 * zombie (in a container both are common). Then the pid, and only the pid, is struck out: the rest of the file names
 * the shared memory, by which PostgreSQL still sees backends that are not gone yet.
 */
export function clearStalePid(data: string): void {
  const path = `${data}/postmaster.pid`;
  const lines = readText(path)?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!pidExists(pid) || isPostgres(pid)) return;
  writeFileSync(path, [UNUSED_PID, ...lines.slice(1)].join("\n"));
}

/** Kills the backends that a dead postmaster left on this data directory. Where there is no /proc it does nothing. */
export function killOrphanedBackends(data: string): void {
  const postmaster = Number(readText(`${data}/postmaster.pid`)?.split("\n")[0]);
  if (isPostgres(postmaster)) return;
  for (const pid of listPids()) {
    if (isPostgres(pid) && workingDirectoryOf(pid) === data) process.kill(pid, "SIGKILL");
  }
}

/** Where names are not known the answer is yes: better to be told that data is in use than to open it twice. */
function isPostgres(pid: number): boolean {
  return isAlive(pid) && (processName(pid)?.startsWith("postgres") ?? true);
}
