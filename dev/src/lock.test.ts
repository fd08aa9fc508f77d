import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../test/scratch.ts";
import { acquireLock } from "./lock.ts";
import { isUsageError } from "./usage-error.ts";

function usageErrorOf(action: () => unknown): Error | undefined {
  try {
    action();
  } catch (error) {
    if (isUsageError(error)) return error as Error;
    throw error;
  }
  return undefined;
}

it("rejects a second process and names the pid of the first", () => {
  const directory = temporaryDirectory();
  const lock = acquireLock(directory);
  expect(usageErrorOf(() => acquireLock(directory))?.message).toContain(`pid ${process.pid}`);
  lock.release();
  expect(acquireLock(directory).wasStale).toBe(false);
});

it("takes over the lock of a process that has exited", () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${spawnSync("true").pid}\n\n`);
  expect(acquireLock(directory).wasStale).toBe(true);
});

it.runIf(process.platform === "linux")("takes over the lock when its pid now belongs to another process", () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${process.pid}\n12345\n`);
  expect(acquireLock(directory).wasStale).toBe(true);
});
