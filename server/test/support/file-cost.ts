// Vitest setup of every test file: counts the CPU time of the file with all processes that it starts, and fails the
// file if it is more than the limit. Time on the clock has no limit of its own, so a busy machine fails no test. No
// process outlives the runner.
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import { findOwnGroup } from "./cpu-group.ts";

/** Files whose CPU seconds are appended to the file that this variable names, as JSON lines. */
const COSTS_VARIABLE = "GESSO_TEST_COSTS";
const LIMIT_CPU_SECONDS = 150;

// A worker whose runner is gone ends, and with it every program that it has started.
if (!process.listeners("disconnect").some(({ name }) => name === exitWithRunner.name))
  process.once("disconnect", exitWithRunner);

const file = relative(process.cwd(), expect.getState().testPath ?? "unknown");
const outer = findOwnGroup();
const group = createFileGroup();
const beforeSeconds = group?.cpuSeconds() ?? 0;
const { user, system } = process.cpuUsage();

function exitWithRunner(): void {
  process.exit(1);
}

function createFileGroup() {
  try {
    // A file that runs again in the same run has the same group, so what it has used before is subtracted.
    const created = outer?.createChild(file.replaceAll("/", "_"));
    created?.add(process.pid);
    return created;
  } catch {
    return undefined;
  }
}

afterAll(() => {
  const own = process.cpuUsage({ user, system });
  const seconds = group ? group.cpuSeconds() - beforeSeconds : (own.user + own.system) / 1e6;
  // The next file of this process has a group of its own.
  outer?.add(process.pid);
  group?.remove();
  const costs = process.env[COSTS_VARIABLE];
  if (costs) appendFileSync(costs, `${JSON.stringify({ file, seconds: Number(seconds.toFixed(2)) })}\n`);
  if (seconds > LIMIT_CPU_SECONDS)
    throw new Error(`${file} used ${seconds.toFixed(0)} CPU seconds; the limit of a file is ${LIMIT_CPU_SECONDS}`);
});
