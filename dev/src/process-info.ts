// Information about processes, from /proc on Linux. On other systems the results are conservative.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function listPids(): number[] {
  return listDirectory("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A zombie (common in containers without an init process) does not count as alive. */
export function isAlive(pid: number): boolean {
  return pidExists(pid) && stateOf(pid) !== "Z";
}

/** Whether the pid exists at all, zombies included. PostgreSQL checks only this. */
export function pidExists(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

export function processName(pid: number): string | undefined {
  return readText(`/proc/${pid}/comm`)?.trim();
}

export function workingDirectoryOf(pid: number): string | undefined {
  return readLink(`/proc/${pid}/cwd`);
}

/** Together with the pid this identifies a process although pids are reused. Undefined if the system does not tell. */
export function startTimeOf(pid: number): string | undefined {
  return fieldsOf(pid)[19];
}

export function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function stateOf(pid: number): string | undefined {
  return fieldsOf(pid)[0];
}

/** The fields of /proc/PID/stat from the third on. The second is the name, which may contain spaces and brackets. */
function fieldsOf(pid: number): string[] {
  const line = readText(`/proc/${pid}/stat`) ?? "";
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}
