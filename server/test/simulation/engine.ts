// A durable engine in memory, for one run. Invocations stop at every point where a process can die; the scheduler
// resumes or crashes them one at a time. A crashed invocation starts again and replays its journal, as it would on the
// real engine.
import type { RunClaim } from "../../src/db/runs/open-runs.ts";
import { Fault, type FaultCode, type FaultDetails } from "../../src/faults.ts";
import type { executeRun, RunEngine, RunSteps } from "../../src/runs/execute.ts";
import type { WakeupReason } from "../../src/runs/notifications.ts";
import { InvariantViolation } from "./decisions.ts";

type StepOutcome = { value: unknown } | { fault: { code: FaultCode; details: FaultDetails } };
export type JournalEntry =
  | { kind: "step"; name: string; outcome: StepOutcome }
  | { kind: "wakeup"; id: string }
  | { kind: "wait"; id: string; until: number; isOver: boolean; reason?: WakeupReason | undefined };
type WaitEntry = Extract<JournalEntry, { kind: "wait" }>;

export type Invocation = {
  readonly claim: RunClaim;
  readonly journal: JournalEntry[];
  hasEnded: boolean;
  crashCount: number;
  /** Set while a provider request is in flight: it times out at this time, before the lease of its attempt expires. */
  requestTimesOutAt: number | undefined;
  /** Continues an invocation that stopped at a point where its process can die. */
  resume: (() => void) | undefined;
  waiting: { entry: WaitEntry; wake(reason: WakeupReason | undefined): void } | undefined;
};

type WakeupState = { reason?: WakeupReason; isConsumed: boolean };

export type SimulatedEngine = ReturnType<typeof createEngine>;

export function createEngine(
  execute: typeof executeRun,
  stepsOf: (invocation: Invocation) => RunSteps,
  clock: { now: number },
) {
  const wakeups = new Map<string, WakeupState>();
  const invocations: Invocation[] = [];
  let thrown: unknown;
  let yieldToScheduler = () => {};
  /** Ends the schedule with this error, whatever the invocation makes of it. */
  const abort = (error: unknown) => {
    thrown ??= error;
    yieldToScheduler();
    return error;
  };
  const violation = (invariant: string, found: string) => abort(new InvariantViolation(invariant, found));

  /** Lets one invocation continue until it stops at the next point, waits for a wakeup, or ends. */
  const letRun = async (start: () => void) => {
    await new Promise<void>((resolve) => {
      yieldToScheduler = resolve;
      start();
    });
    if (thrown) throw thrown;
  };

  const start = (invocation: Invocation) => {
    invocation.resume = undefined;
    invocation.waiting = undefined;
    invocation.requestTimesOutAt = undefined;
    return letRun(() => {
      execute(invocation.claim, createRunEngine(invocation), stepsOf(invocation)).then(() => {
        invocation.hasEnded = true;
        yieldToScheduler();
      }, abort);
    });
  };

  const stop = (invocation: Invocation) =>
    new Promise<void>((resolve) => {
      invocation.resume = resolve;
      yieldToScheduler();
    });

  /** Does the work of a step. Faults that pass by themselves are tried again, others are the result of the step. */
  const perform = async (invocation: Invocation, work: () => Promise<unknown>): Promise<StepOutcome> => {
    for (;;) {
      await stop(invocation);
      try {
        const value = await work();
        return { value: value === undefined ? undefined : JSON.parse(JSON.stringify(value)) };
      } catch (error) {
        if (!(error instanceof Fault)) throw abort(error);
        if (!TRANSIENT_FAULTS.includes(error.code)) return { fault: { code: error.code, details: error.details } };
      }
    }
  };

  const createRunEngine = (invocation: Invocation): RunEngine => {
    const { journal } = invocation;
    let position = 0;
    const replay = <Kind extends JournalEntry["kind"]>(kind: Kind, label: string) => {
      const entry = journal[position++];
      if (entry && (entry.kind !== kind || ("name" in entry ? entry.name : kind) !== label))
        throw violation("a replay repeats its journal", `${JSON.stringify(entry)} became ${label}`);
      return entry as Extract<JournalEntry, { kind: Kind }> | undefined;
    };
    return {
      async step<T>(name: string, work: () => Promise<T>) {
        let entry = replay("step", name);
        if (!entry) {
          if (journal.some((each) => each.kind === "step" && each.name === name))
            throw violation("step names are unique", name);
          const outcome = await perform(invocation, work);
          await stop(invocation);
          entry = { kind: "step", name, outcome };
          journal.push(entry);
          await stop(invocation);
        }
        if ("fault" in entry.outcome) throw new Fault(entry.outcome.fault.code, entry.outcome.fault.details);
        return structuredClone(entry.outcome.value) as T;
      },
      createWakeup() {
        let entry = replay("wakeup", "wakeup");
        if (!entry) {
          entry = { kind: "wakeup", id: `${invocation.claim.epoch}-${journal.length}` };
          journal.push(entry);
          wakeups.set(entry.id, { isConsumed: false });
        }
        const { id } = entry;
        return { id, wait: (seconds) => waitFor(id, seconds) };
      },
    };

    async function waitFor(id: string, seconds: number): Promise<WakeupReason | undefined> {
      let entry = replay("wait", "wait");
      if (!entry) {
        if (wakeups.get(id)!.isConsumed) throw violation("no wait on a fired wakeup", id);
        entry = { kind: "wait", id, until: clock.now + seconds, isOver: false };
        journal.push(entry);
      }
      if (entry.isOver) return entry.reason;
      const pending = entry;
      return new Promise((resolve) => {
        invocation.waiting = { entry: pending, wake: resolve };
        yieldToScheduler();
      });
    }
  };

  return {
    clock,
    invocations,
    /** Stops the invocation at a point inside a step where its process can die. */
    stop,
    async invoke(claim: RunClaim) {
      const invocation: Invocation = {
        ...{ claim, journal: [], hasEnded: false, crashCount: 0 },
        ...{ requestTimesOutAt: undefined, resume: undefined, waiting: undefined },
      };
      invocations.push(invocation);
      await start(invocation);
    },
    crash(invocation: Invocation) {
      invocation.crashCount++;
      return start(invocation);
    },
    resume(invocation: Invocation) {
      const { resume } = invocation;
      invocation.resume = undefined;
      return letRun(resume!);
    },
    /** Ends a wait with the reason of its wakeup, or by its timer. */
    wake(invocation: Invocation, isTimer: boolean) {
      const { entry, wake } = invocation.waiting!;
      const wakeup = wakeups.get(entry.id)!;
      entry.isOver = true;
      if (isTimer) clock.now = Math.max(clock.now, entry.until);
      else {
        entry.reason = wakeup.reason;
        wakeup.isConsumed = true;
      }
      invocation.waiting = undefined;
      return letRun(() => wake(entry.reason));
    },
    hasFired: (id: string) => wakeups.get(id)?.reason !== undefined,
    /** The first reason counts; resolving a wakeup again changes nothing. */
    resolveWakeup(id: string | undefined, reason: WakeupReason) {
      const wakeup = id === undefined ? undefined : wakeups.get(id);
      if (wakeup) wakeup.reason ??= reason;
    },
  };
}

const TRANSIENT_FAULTS: FaultCode[] = ["dependency_unavailable", "asset_unavailable"];
