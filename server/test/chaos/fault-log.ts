// Records when a campaign disturbed which component. The checks use it to tell an unknown outcome that a fault explains
// from one that Gesso caused itself.
import type { CheckResult } from "../support/check-result.ts";
import type { ProcessName, TestEnvironment } from "../support/test-environment.ts";

type FaultInterval = { name: string; from: number; to: number };

/**
 * Faults after which every result can still be stored: the process that has it lives on and reaches the database in the
 * end. They never explain an unknown outcome. The deaths of workers in `poison_run` are recorded as kills, and the
 * vendor itself records the responses that it withholds.
 */
const HARMLESS_TO_RESULTS = [
  ...["storage_cut", "storage_read_only", "clock_shifted", "database_slow", "engine_partition"],
  ...["database_away", "database_clock_stepped", "processes_suspended", "vendor_hangs", "overload", "poison_run"],
];

/** How often a fault met each of its targets, such as a statement or the connections to a component. */
export type FaultHits = Record<string, number>;

export type FaultLog = {
  /** Records the fault for as long as `work` takes. */
  during<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Records what a fault hit. Counts of the same fault and target are added. */
  addHits(name: string, hits: FaultHits): void;
  /** Fails for a fault that has hit nothing: its injection tests nothing any more. */
  checkHits(): CheckResult;
  /** Records a process that exited at a crash point. */
  addKill(name: string): void;
  /** Whether a fault that can lose a response was present between these two times, in milliseconds. */
  canLoseResponse(from: number, to: number): boolean;
  killCount(): number;
  /** How often each fault was injected. */
  summary(): string;
};

export function createFaultLog(): FaultLog {
  const intervals: FaultInterval[] = [];
  const hitsByTarget = new Map<string, number>();
  let kills = 0;
  const log: FaultLog = {
    async during(name, work) {
      const interval = { name, from: Date.now(), to: Number.POSITIVE_INFINITY };
      intervals.push(interval);
      if (name.startsWith("kill ")) kills++;
      try {
        return await work();
      } finally {
        interval.to = Date.now();
      }
    },
    addHits(name, hits) {
      const targets = Object.keys(hits).length > 0 ? Object.entries(hits) : [["anything", 0] as const];
      for (const [target, count] of targets) {
        const key = `${name}: ${target}`;
        hitsByTarget.set(key, (hitsByTarget.get(key) ?? 0) + count);
      }
    },
    checkHits() {
      const all = [...hitsByTarget];
      const missed = all.filter(([, count]) => count === 0).map(([target]) => target);
      return {
        invariant: "every injected fault hit each of its targets",
        passed: missed.length === 0,
        observed: `${missed.length > 0 ? `missed ${missed.join(", ")}; ` : ""}${all.map((each) => each.join(" ")).join(", ")}`,
      };
    },
    addKill(name) {
      kills++;
      intervals.push({ name: `kill ${name}`, from: Date.now() - 1000, to: Date.now() });
    },
    canLoseResponse: (from, to) =>
      intervals.some(
        (interval) => interval.from <= to && interval.to >= from && !HARMLESS_TO_RESULTS.includes(interval.name),
      ),
    killCount: () => kills,
    summary() {
      const names = [...new Set(intervals.map(({ name }) => name))].sort();
      return names.map((name) => `${name} ${intervals.filter((each) => each.name === name).length}`).join(", ");
    },
  };
  return log;
}

/** The same environment; every process that is killed through it is recorded. */
export function recordKills<Environment extends TestEnvironment>(
  environment: Environment,
  faults: FaultLog,
): Environment {
  return {
    ...environment,
    kill: (processName: ProcessName) => faults.during(`kill ${processName}`, () => environment.kill(processName)),
    killAndRestart: (processName: ProcessName, downMs?: number) =>
      faults.during(`kill ${processName}`, () => environment.killAndRestart(processName, downMs)),
  };
}
