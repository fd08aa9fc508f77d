// Locks a data directory for one `gesso` process. The lock file names its process and is stale once that process exits.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readText, startTimeOf } from "./process-info.ts";
import { usageError } from "./usage-error.ts";

export type DataDirectoryLock = {
  /** The previous holder exited without releasing the lock: its components may still be shutting down. */
  wasStale: boolean;
  release(): void;
};

export function acquireLock(dataDir: string): DataDirectoryLock {
  const path = pathOf(dataDir);
  const previous = readText(path);
  const pid = findLockHolder(dataDir);
  if (pid !== undefined) {
    throw usageError(
      `The data directory ${dataDir} is in use by another gesso (pid ${pid}). Stop it, or choose --data.`,
    );
  }
  rmSync(path, { force: true });
  // "wx" fails if the file exists: of two processes that start at the same time, only one gets the lock.
  writeFileSync(path, `${process.pid}\n${startTimeOf(process.pid) ?? ""}\n`, { flag: "wx" });
  return { wasStale: previous !== undefined, release: () => rmSync(path, { force: true }) };
}

/** The pid of the process that holds the lock, or undefined. */
export function findLockHolder(dataDir: string): number | undefined {
  const [pid = "", startTime = ""] = readText(pathOf(dataDir))?.split("\n") ?? [];
  // Pids are reused. The start time tells whether this pid still belongs to the process that took the lock.
  return isAlive(Number(pid)) && (startTimeOf(Number(pid)) ?? "") === startTime ? Number(pid) : undefined;
}

const pathOf = (dataDir: string) => join(dataDir, "gesso.pid");
