// Records when a campaign disturbed which component. The checks use it to tell an unknown outcome that a fault explains
// from one that Gesso caused itself.
import type { ProcessName, TestEnvironment } from "../support/test-environment.ts";

type FaultInterval = { name: string; from: number; to: number };

/**
 * Faults after which every result can still be stored: the process that has it lives on and reaches the database. They
 * never explain an unknown outcome.
 */
const HARMLESS_TO_RESULTS = ["storage_cut", "storage_read_only", "clock_shifted", "database_slow", "engine_partition"];

export type FaultLog = {
  /** Records the fault for as long as `work` takes. */
  during<T>(name: string, work: () => Promise<T>): Promise<T>;
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
