// The runtime of tests: real time, real ids, default settings and a log that drops everything, unless a test overrides
// it.
import { v7 } from "uuid";
import { systemClock } from "../../src/kit/system-clock.ts";
import { NO_METRICS } from "../../src/observe/metrics.ts";
import { NO_TRACING } from "../../src/observe/tracing.ts";
import { createByteBudget } from "../../src/runs/byte-budget.ts";
import { createFileTurns } from "../../src/runs/file-turns.ts";
import { parseRunSettings, RetentionEnv, RunLimitsEnv } from "../../src/runs/run-settings.ts";
import type { ProcessRuntime } from "../../src/runs/services.ts";

const settings = parseRunSettings({ ...RunLimitsEnv.parse({}), ...RetentionEnv.parse({}) });

export const createTestRuntime = (overrides: Partial<ProcessRuntime> = {}): ProcessRuntime => ({
  clock: systemClock,
  random: Math.random,
  ids: { next: () => v7() },
  settings,
  byteBudget: createByteBudget(settings.byteBudget),
  fileTurns: createFileTurns(settings.fileBytes),
  log: { info: () => {}, warn: () => {}, error: () => {} },
  metrics: NO_METRICS,
  tracing: NO_TRACING,
  crashPoint: () => {},
  ...overrides,
});
