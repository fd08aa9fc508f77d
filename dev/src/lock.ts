// One running Gesso for one data directory: the lock names the process that has it and ends with that process.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readText, startTimeOf } from "./process-info.ts";
import { usageError } from "./usage-error.ts";

export type DataDirectoryLock = {
  /** The last holder ended without letting go: its parts may be ending this very moment. */
  wasStale: boolean;
  release(): void;
};

export function acquireLock(dataDir: string): DataDirectoryLock {
  const path = pathOf(dataDir);
  const before = readText(path);
  const pid = findLockHolder(dataDir);
  if (pid !== undefined) {
    throw usageError(
      `The data directory ${dataDir} is in use by another gesso (pid ${pid}). Stop it, or choose --data.`,
    );
  }
  rmSync(path, { force: true });
  // "wx" lets only one of two that start at the same moment through.
  writeFileSync(path, `${process.pid}\n${startTimeOf(process.pid) ?? ""}\n`, { flag: "wx" });
  return { wasStale: before !== undefined, release: () => rmSync(path, { force: true }) };
}

/** The process that has the data directory now, if there is one. */
export function findLockHolder(dataDir: string): number | undefined {
  const [pid = "", startTime = ""] = readText(pathOf(dataDir))?.split("\n") ?? [];
  // The start time is compared because pids are used again, and a stranger's pid must not lock the data for ever.
  return isAlive(Number(pid)) && (startTimeOf(Number(pid)) ?? "") === startTime ? Number(pid) : undefined;
}

const pathOf = (dataDir: string) => join(dataDir, "gesso.pid");
