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
  const path = join(dataDir, "gesso.pid");
  const before = text(path);
  const [pid = "", startTime = ""] = before?.split("\n") ?? [];
  // The start time is compared because pids are used again, and a stranger's pid must not lock the data for ever.
  if (isAlive(Number(pid)) && (startTimeOf(Number(pid)) ?? "") === startTime) {
    throw refusal(`The data directory ${dataDir} is in use by another gesso (pid ${pid}). Stop it, or choose --data.`);
  }
  rmSync(path, { force: true });
  // "wx" lets only one of two that start at the same moment through.
  writeFileSync(path, `${process.pid}\n${startTimeOf(process.pid) ?? ""}\n`, { flag: "wx" });
  return { wasAbandoned: before !== undefined, release: () => rmSync(path, { force: true }) };
}
