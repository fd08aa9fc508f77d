import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scratchDirectory } from "../test/scratch.ts";
import { takeLock } from "./lock.ts";
import { isRefusal } from "./refusal.ts";

function refusalOf(action: () => unknown): Error | undefined {
  try {
    action();
  } catch (error) {
    if (isRefusal(error)) return error as Error;
    throw error;
  }
  return undefined;
}

it("refuses a second one and names the pid of the first", () => {
  const directory = scratchDirectory();
  const lock = takeLock(directory);
  expect(refusalOf(() => takeLock(directory))?.message).toContain(`pid ${process.pid}`);
  lock.release();
  expect(takeLock(directory).wasAbandoned).toBe(false);
});

it("takes over from a process that is gone", () => {
  const directory = scratchDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${spawnSync("true").pid}\n\n`);
  expect(takeLock(directory).wasAbandoned).toBe(true);
});

it.runIf(process.platform === "linux")("takes over when the pid belongs to another process by now", () => {
  const directory = scratchDirectory();
  writeFileSync(`${directory}/gesso.pid`, `${process.pid}\n12345\n`);
  expect(takeLock(directory).wasAbandoned).toBe(true);
});
