// One running Gesso for one data directory: the lock names the process that has it and ends with that process.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, startTimeOf, text } from "./processes.ts";
import { refusal } from "./refusal.ts";

export type Lock = {
  /** The last holder ended without letting go: its parts may be ending this very moment. */
  wasAbandoned: boolean;
  release(): void;
};

export function takeLock(dataDir: string): Lock {
  const path = pathOf(dataDir);
  const before = text(path);
  const pid = holderOf(dataDir);
  if (pid !== undefined) {
    throw refusal(`The data directory ${dataDir} is in use by another gesso (pid ${pid}). Stop it, or choose --data.`);
  }
  rmSync(path, { force: true });
  // "wx" lets only one of two that start at the same moment through.
  writeFileSync(path, `${process.pid}\n${startTimeOf(process.pid) ?? ""}\n`, { flag: "wx" });
  return { wasAbandoned: before !== undefined, release: () => rmSync(path, { force: true }) };
}

/** The process that has the data directory now, if there is one. */
export function holderOf(dataDir: string): number | undefined {
  const [pid = "", startTime = ""] = text(pathOf(dataDir))?.split("\n") ?? [];
  // The start time is compared because pids are used again, and a stranger's pid must not lock the data for ever.
  return isAlive(Number(pid)) && (startTimeOf(Number(pid)) ?? "") === startTime ? Number(pid) : undefined;
}

const pathOf = (dataDir: string) => join(dataDir, "gesso.pid");
