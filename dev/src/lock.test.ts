import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../test/scratch.ts";
import { acquireLock } from "./lock.ts";
import { isUsageError } from "./usage-error.ts";

function refusalOf(action: () => unknown): Error | undefined {
  try {
    action();
  } catch (error) {
    if (isUsageError(error)) return error as Error;
    throw error;
  }
  return undefined;
}

it("refuses a second one and names the pid of the first", () => {
  const directory = temporaryDirectory();
  const lock = acquireLock(directory);
  expect(refusalOf(() => acquireLock(directory))?.message).toContain(`pid ${process.pid}`);
  lock.release();
  expect(acquireLock(directory).wasStale).toBe(false);
});

it("takes over from a process that is gone", () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${spawnSync("true").pid}\n\n`);
  expect(acquireLock(directory).wasStale).toBe(true);
});

it.runIf(process.platform === "linux")("takes over when the pid belongs to another process by now", () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${process.pid}\n12345\n`);
  expect(acquireLock(directory).wasStale).toBe(true);
});
