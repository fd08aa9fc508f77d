// What every process has by itself: time, randomness and ids, and where it reports what it does. All of it is handed
// in, so that a test can decide it.

import type { CrashPoint } from "../../observe/crash-points.ts";
import type { Log } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Tracing } from "../../observe/tracing.ts";
import type { Clock, Ids, Random } from "../../runtime/clock.ts";

export type Runtime = {
  clock: Clock;
  random: Random;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  crashPoint(name: CrashPoint): void;
};
