// After kill -9 a postmaster leaves its pid file and, for a while, its backends. This clears the way for the next one
// without ever letting two live side by side on the same data.
import { writeFileSync } from "node:fs";
import { answersSignal, directoryOf, isAlive, nameOf, pids, text } from "./processes.ts";

// Greater than any pid that a system hands out.
const NOBODY = "2147483646";

/**
 * PostgreSQL believes a pid file whose pid is taken, even when the pid belongs to some other program by now or to a
 * zombie (in a container both are common). Then the pid, and only the pid, is struck out: the rest of the file names
 * the shared memory, by which PostgreSQL still sees backends that are not gone yet.
 */
export function strikeDeadPid(data: string): void {
  const path = `${data}/postmaster.pid`;
  const lines = text(path)?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!answersSignal(pid) || isPostgres(pid)) return;
  writeFileSync(path, [NOBODY, ...lines.slice(1)].join("\n"));
}

/** Kills the backends that a dead postmaster left on this data directory. Where there is no /proc it does nothing. */
export function killOrphans(data: string): void {
  const postmaster = Number(text(`${data}/postmaster.pid`)?.split("\n")[0]);
  if (isPostgres(postmaster)) return;
  for (const pid of pids()) {
    if (isPostgres(pid) && directoryOf(pid) === data) process.kill(pid, "SIGKILL");
  }
}

/** Where names are not known the answer is yes: better to be told that data is in use than to open it twice. */
function isPostgres(pid: number): boolean {
  return isAlive(pid) && (nameOf(pid)?.startsWith("postgres") ?? true);
}
