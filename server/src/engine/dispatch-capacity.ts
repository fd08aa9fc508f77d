// How many runs the dispatcher may start now. Only runs that a worker executes count. Runs that wait for their provider
// are free; runs that wait for a provider slot limit only their own lane. Dispatched runs that do not start soon shrink
// the dispatch window (back-pressure).
import type { Database } from "../db/connect.ts";
import { countLaneLoad, type LaneLoad, type QueueKey } from "../db/runs/queue.ts";
import type { RunSettings } from "../runs/core/run-settings.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";

/**
 * How long a count of the lane load is used; runs dispatched since are added to it. `FRESH_MS` applies while few runs
 * may start.
 */
const FRESH_MS = 15;
const STALE_MS = 250;
/** Runs of a lane that may wait for a provider slot. Further runs stay queued, where their order can still change. */
const MAX_WAITING_FOR_SLOT = 8;

export type CapacityDependencies = Pick<Runtime, "clock"> & {
  database: Database;
  settings: RunSettings;
  providers: Pick<ProviderRegistry, "enabled">;
};

export type DispatchCapacity = {
  setWorkers(count: number): void;
  /** How many runs may start now. */
  freeSlots(): Promise<number>;
  /** How many of them may be of this lane. */
  laneCapacity(lane: string): number;
  recordDispatched(taken: QueueKey[]): void;
};

export function createDispatchCapacity(services: CapacityDependencies): DispatchCapacity {
  const window = createDispatchWindow();
  let workers = 1;
  let loadByLane = new Map<string, LaneLoad>();
  let countedAt = Number.NEGATIVE_INFINITY;
  let dispatchedSinceCount: QueueKey[] = [];

  const count = async () => {
    const rows = await countLaneLoad(services.database);
    loadByLane = new Map(rows.map((each) => [each.lane, each]));
    countedAt = services.clock.monotonic();
    dispatchedSinceCount = [];
    window.recordStartDelay(
      1000 * Math.max(0, ...rows.map(({ oldest_wait_seconds }) => oldest_wait_seconds)),
      countedAt,
    );
  };
  const sum = (field: "working" | "not_started") =>
    [...loadByLane.values()].reduce((total, each) => total + each[field], 0);
  const free = () => {
    const notStarted = sum("not_started") + dispatchedSinceCount.length;
    const slots = workers * services.settings.workerSlots - sum("working") - dispatchedSinceCount.length;
    // Runs resumed by provider results may fill every slot. A few new runs still start, so that one tenant's burst of
    // results does not block the others.
    return Math.min(Math.max(slots, workers - notStarted), window.size(workers) - notStarted);
  };

  return {
    setWorkers(count) {
      workers = Math.max(1, count);
    },
    async freeSlots() {
      const age = services.clock.monotonic() - countedAt;
      const isTight = free() <= workers || [...loadByLane.values()].some(({ waiting_for_slot: gated }) => gated > 0);
      if (age > STALE_MS || (isTight && age > FRESH_MS)) await count();
      return Math.max(0, free());
    },
    laneCapacity(lane) {
      const { working = 0, waiting_for_slot: gated = 0 } = loadByLane.get(lane) ?? {};
      const pace = services.providers.enabled.find(({ provider }) => provider.id === lane)?.provider.rateLimit;
      if (!pace) return gated >= MAX_WAITING_FOR_SLOT ? 0 : Number.POSITIVE_INFINITY;
      return prefetchLimit(pace) - working - gated - dispatchedSinceCount.filter((each) => each.lane === lane).length;
    },
    recordDispatched(taken) {
      dispatchedSinceCount.push(...taken);
    },
  };
}

/** Enough runs to fill every provider slot that becomes free at once, and few more. */
const prefetchLimit = ({ concurrent = 0, perMinute = 0 }: { concurrent?: number; perMinute?: number }) =>
  Math.max(MAX_WAITING_FOR_SLOT, Math.ceil(concurrent / 2), Math.ceil(perMinute / 30));

const FAST_START_MS = 60;
const SLOW_START_MS = 150;
const MIN_SIZE = 4;
const MAX_SIZE = 100;
/** Pause after shrinking, because a smaller window takes effect with a delay. */
const SHRINK_COOLDOWN_MS = 100;

type DispatchWindow = {
  /** `slowestMs`: the longest wait of a dispatched run that has not started. */
  recordStartDelay(slowestMs: number, now: number): void;
  size(workers: number): number;
};

/**
 * Limits the runs that are dispatched and not yet started. The window grows while runs start at once and shrinks when
 * they do not, so that the backlog stays in PostgreSQL, where its order can still change.
 */
export function createDispatchWindow(): DispatchWindow {
  let perWorker = 16;
  let shrunkAt = Number.NEGATIVE_INFINITY;
  return {
    recordStartDelay(slowestMs, now) {
      if (slowestMs < FAST_START_MS) perWorker = Math.min(MAX_SIZE, perWorker + 1);
      else if (slowestMs > SLOW_START_MS && now - shrunkAt > SHRINK_COOLDOWN_MS) {
        perWorker = Math.max(MIN_SIZE, perWorker * 0.7);
        shrunkAt = now;
      }
    },
    size: (workers) => Math.floor(perWorker) * workers,
  };
}
