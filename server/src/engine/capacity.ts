// How much may be handed to the engine now. What counts is what we work on: a run that waits for its provider costs
// nothing, and one that waits for a place at its provider holds up only those who want the same provider. What the engine
// has been given and does not begin soon is too much, whatever the settings say: then it is given less.
import { type Busy, countBusy, type Queue } from "../db/queue.ts";
import type { House } from "../runs/house.ts";
import { createWindow } from "./window.ts";

/** A count is good for so long; what was handed over since is added to it. */
const FRESH_MS = 15;
const STALE_MS = 250;
/** Runs that may stand before the gate of a provider that takes no more; others stay where they can be reordered. */
const AT_GATE = 8;

export type Capacity = {
  setWorkers(count: number): void;
  /** How many runs may start. */
  free(): Promise<number>;
  /** How many of them in this lane. */
  roomOf(lane: string): number;
  use(taken: Queue[]): void;
};

export function createCapacity(house: House): Capacity {
  const window = createWindow();
  let workers = 1;
  let busy = new Map<string, Busy>();
  let countedAt = Number.NEGATIVE_INFINITY;
  let sinceThen: Queue[] = [];

  const count = async () => {
    const rows = await countBusy(house.db);
    busy = new Map(rows.map((each) => [each.lane, each]));
    countedAt = performance.now();
    sinceThen = [];
    window.note(1000 * Math.max(0, ...rows.map(({ slowest }) => slowest)), countedAt);
  };
  const sum = (of: "working" | "unbegun") => [...busy.values()].reduce((total, each) => total + each[of], 0);
  const free = () => {
    const unbegun = sum("unbegun") + sinceThen.length;
    const slots = workers * house.slots - sum("working") - sinceThen.length;
    // Work that vendors have called us back to may fill every slot; some still begin, or a quiet tenant would wait for a
    // storm of others' results.
    return Math.min(Math.max(slots, workers - unbegun), window.size(workers) - unbegun);
  };

  return {
    setWorkers(count) {
      workers = Math.max(1, count);
    },
    async free() {
      const age = performance.now() - countedAt;
      const isTight = free() <= workers || [...busy.values()].some(({ gated }) => gated > 0);
      if (age > STALE_MS || (isTight && age > FRESH_MS)) await count();
      return Math.max(0, free());
    },
    roomOf(lane) {
      const { working = 0, gated = 0 } = busy.get(lane) ?? {};
      const pace = house.providers.find(({ provider }) => provider.id === lane)?.provider.pace;
      if (!pace) return gated >= AT_GATE ? 0 : Number.POSITIVE_INFINITY;
      return aheadOf(pace) - working - gated - sinceThen.filter((each) => each.lane === lane).length;
    },
    use(taken) {
      sinceThen.push(...taken);
    },
  };
}

/** Enough to take every place that becomes free at once, and little more. */
const aheadOf = ({ concurrent = 0, perMinute = 0 }: { concurrent?: number; perMinute?: number }) =>
  Math.max(AT_GATE, Math.ceil(concurrent / 2), Math.ceil(perMinute / 30));
