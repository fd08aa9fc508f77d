// The runtime of tests: real time, real ids, and a log that drops everything, unless a test overrides it.

import { v7 } from "uuid";
import { NO_METRICS } from "../../src/observe/metrics.ts";
import { NO_TRACING } from "../../src/observe/tracing.ts";
import { parseRunSettings, RetentionEnv, RunLimitsEnv } from "../../src/runs/core/run-settings.ts";
import type { Runtime } from "../../src/runs/core/runtime.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";

export const createTestRuntime = (overrides: Partial<Runtime> = {}): Runtime => ({
  clock: systemClock,
  random: Math.random,
  ids: { next: () => v7() },
  log: { info: () => {}, warn: () => {}, error: () => {} },
  metrics: NO_METRICS,
  tracing: NO_TRACING,
  crashPoint: () => {},
  ...overrides,
});

/** The settings of runs, each with its default. */
export const TEST_RUN_SETTINGS = parseRunSettings({ ...RunLimitsEnv.parse({}), ...RetentionEnv.parse({}) });
