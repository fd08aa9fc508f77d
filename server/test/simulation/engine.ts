// A durable engine in memory, for one run. Step executions stop at every point where a process can die; the scheduler
// resumes them one at a time, or ends the attempt. The next attempt replays the journal, as it would on the real
// engine: commands must come in the same order, and operations end in the order in which they ended before.
import type { RunClaim } from "../../src/db/run-claims.ts";
import { Fault, type FaultCode, type FaultDetails } from "../../src/faults/faults.ts";
import type { WakeupReason } from "../../src/runs/core/notifications.ts";
import type { executeRun } from "../../src/runs/execute/execute.ts";
import type { EngineOperation, RunEngine } from "../../src/runs/execute/run-engine.ts";
import type { RunSteps } from "../../src/runs/steps.ts";
import { InvariantViolation } from "./decisions.ts";

type StepOutcome = { value: unknown } | { fault: { code: FaultCode; details: FaultDetails } };
type StepEntry = { kind: "step"; name: string; outcome?: StepOutcome };
/** `afterStep` is the step whose result the flow that waits got last; undefined if that is not certain. */
export type WaitEntry = {
  kind: "wait";
  id: string;
  afterStep: string | undefined;
  until: number;
  isOver: boolean;
  reason?: WakeupReason | undefined;
};
export type JournalEntry = StepEntry | WaitEntry | { kind: "wakeup"; id: string };

/** A step that a process is executing. The result of an abandoned one is not journalled: its attempt has ended. */
export type StepExecution = {
  isAbandoned: boolean;
  /** Set while a provider request is in flight: it times out at this time, before the lease of its attempt expires. */
  requestTimesOutAt: number | undefined;
  /** Continues an execution that stopped at a point where its process can die. */
  resume: (() => void) | undefined;
};

export type Invocation = {
  readonly claim: RunClaim;
  /** The commands of the invocation, in order. */
  readonly journal: JournalEntry[];
  /** The steps and waits that have ended, in the order in which they ended. */
  readonly endings: JournalEntry[];
  hasEnded: boolean;
  crashCount: number;
  abandonedCount: number;
  executions: StepExecution[];
  attempt: Attempt;
};

/** One attempt of an invocation: what it has replayed or issued so far. */
type Attempt = {
  position: number;
  /** How many endings the attempt may see, and how many it has seen. */
  visibleEndings: number;
  seenEndings: number;
  endedEntries: Set<JournalEntry>;
  lastStep: string | undefined;
  waits: WaitEntry[];
  waiters: { entries: JournalEntry[]; resolve(index: number): void }[];
  hasSeveralWaiters: boolean;
};

const createAttempt = ({ endings }: Pick<Invocation, "endings">): Attempt => ({
  ...{ position: 0, visibleEndings: endings.length, seenEndings: 0, endedEntries: new Set(), lastStep: undefined },
  ...{ waits: [], waiters: [], hasSeveralWaiters: false },
});

type WakeupState = { reason?: WakeupReason; isConsumed: boolean };
type SimulatedOperation<T> = EngineOperation<T> & { entry: JournalEntry };

export type SimulatedEngine = ReturnType<typeof createEngine>;

export function createEngine(
  execute: typeof executeRun,
  stepsOf: (invocation: Invocation) => RunSteps,
  clock: { now: number },
) {
  const wakeups = new Map<string, WakeupState>();
  const invocations: Invocation[] = [];
  let thrown: unknown;
  let current: StepExecution | undefined;
  /** Ends the schedule with this error, whatever the invocation makes of it. */
  const abort = (error: unknown) => {
    thrown ??= error;
    return error;
  };
  const violation = (invariant: string, found: string) => abort(new InvariantViolation(invariant, found));

  /** Lets everything run until each execution has stopped and each flow waits. */
  const letRun = async (proceed: () => void) => {
    proceed();
    // Ticks come after all microtasks.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    current = undefined;
    if (thrown) throw thrown;
  };

  /** Starts an attempt. Executions of the attempt before are abandoned, or gone if their process died. */
  const start = (invocation: Invocation, isProcessAlive: boolean) => {
    for (const execution of invocation.executions) execution.isAbandoned = true;
    if (isProcessAlive) invocation.abandonedCount += invocation.executions.length;
    else invocation.executions = [];
    const attempt = createAttempt(invocation);
    invocation.attempt = attempt;
    execute(invocation.claim, createRunEngine(invocation, attempt), stepsOf(invocation)).then(() => {
      invocation.hasEnded = true;
    }, abort);
  };

  const stop = (execution: StepExecution) =>
    new Promise<void>((resolve) => {
      execution.resume = resolve;
    });

  /** Resolves waiters as long as an operation that one of them waits for has ended. */
  const resolveWaiters = ({ endings }: Invocation, attempt: Attempt) => {
    for (;;) {
      const waiter = attempt.waiters.find(({ entries }) => entries.some((entry) => attempt.endedEntries.has(entry)));
      if (waiter) {
        attempt.waiters = attempt.waiters.filter((each) => each !== waiter);
        const index = waiter.entries.findIndex((entry) => attempt.endedEntries.has(entry));
        const entry = waiter.entries[index]!;
        if (entry.kind === "step") attempt.lastStep = entry.name;
        waiter.resolve(index);
        continue;
      }
      if (attempt.waiters.length === 0 || attempt.seenEndings >= attempt.visibleEndings) return;
      attempt.endedEntries.add(endings[attempt.seenEndings++]!);
    }
  };

  const showEndings = (invocation: Invocation) => {
    invocation.attempt.visibleEndings = invocation.endings.length;
    resolveWaiters(invocation, invocation.attempt);
  };

  /** Executes a step. A fault that passes by itself ends the attempt, other faults are the result of the step. */
  const executeStep = async (invocation: Invocation, entry: StepEntry, work: () => Promise<unknown>) => {
    const execution: StepExecution = { isAbandoned: false, requestTimesOutAt: undefined, resume: undefined };
    invocation.executions.push(execution);
    const leave = () => {
      invocation.executions = invocation.executions.filter((each) => each !== execution);
    };
    await stop(execution);
    let outcome: StepOutcome;
    try {
      const value = await work();
      outcome = { value: value === undefined ? undefined : JSON.parse(JSON.stringify(value)) };
    } catch (error) {
      if (!(error instanceof Fault)) return void abort(error);
      if (TRANSIENT_FAULTS.includes(error.code)) {
        leave();
        if (!execution.isAbandoned) start(invocation, true);
        return;
      }
      outcome = { fault: { code: error.code, details: error.details } };
    }
    await stop(execution);
    if (execution.isAbandoned) return leave();
    entry.outcome = outcome;
    invocation.endings.push(entry);
    await stop(execution);
    leave();
    if (!execution.isAbandoned) showEndings(invocation);
  };

  const createRunEngine = (invocation: Invocation, attempt: Attempt): RunEngine => {
    const { journal } = invocation;
    const replay = <Kind extends JournalEntry["kind"]>(kind: Kind, label: string) => {
      const entry = journal[attempt.position++];
      if (entry && (entry.kind !== kind || ("name" in entry ? entry.name : kind) !== label))
        throw violation("a replay repeats its journal", `${JSON.stringify(entry)} became ${label}`);
      return entry as Extract<JournalEntry, { kind: Kind }> | undefined;
    };
    const waitForFirst = (entries: JournalEntry[]) =>
      new Promise<number>((resolve) => {
        attempt.waiters.push({ entries, resolve });
        attempt.hasSeveralWaiters ||= attempt.waiters.length > 1;
        resolveWaiters(invocation, attempt);
      });
    const operationOf = <T>(entry: JournalEntry, read: () => T): SimulatedOperation<T> => ({
      entry,
      then: (onFulfilled, onRejected) => waitForFirst([entry]).then(read).then(onFulfilled, onRejected),
    });

    return {
      step<T>(name: string, work: () => Promise<T>) {
        let entry = replay("step", name);
        if (!entry) {
          if (journal.some((each) => each.kind === "step" && each.name === name))
            throw violation("step names are unique", name);
          entry = { kind: "step", name };
          journal.push(entry);
        }
        const step = entry;
        if (!step.outcome) void executeStep(invocation, step, work);
        return operationOf(step, () => {
          const outcome = step.outcome!;
          if ("fault" in outcome) throw new Fault(outcome.fault.code, outcome.fault.details);
          return structuredClone(outcome.value) as T;
        });
      },
      createWakeup() {
        let entry = replay("wakeup", "wakeup");
        if (!entry) {
          entry = { kind: "wakeup", id: `${invocation.claim.epoch}-${journal.length}` };
          journal.push(entry);
          wakeups.set(entry.id, { isConsumed: false });
        }
        const { id } = entry;
        return { id, wait: (seconds) => startWait(id, seconds) };
      },
      waitForFirst: (operations) =>
        waitForFirst((operations as SimulatedOperation<unknown>[]).map(({ entry }) => entry)),
    };

    function startWait(id: string, seconds: number) {
      let entry = replay("wait", "wait");
      if (!entry) {
        if (wakeups.get(id)!.isConsumed) throw violation("no wait on a fired wakeup", id);
        const afterStep = attempt.hasSeveralWaiters ? undefined : attempt.lastStep;
        entry = { kind: "wait", id, afterStep, until: clock.now + seconds, isOver: false };
        journal.push(entry);
      }
      const wait = entry;
      attempt.waits.push(wait);
      return operationOf(wait, () => wait.reason);
    }
  };

  return {
    clock,
    invocations,
    /** Stops the execution that runs now at a point inside its step where its process can die. */
    stop: () => stop(current!),
    isAbandoned: () => current!.isAbandoned,
    /** The execution that runs now has a provider request in flight until this time. */
    setRequestTimeout(timesOutAt: number | undefined) {
      current!.requestTimesOutAt = timesOutAt;
    },
    invoke(claim: RunClaim) {
      const endings: JournalEntry[] = [];
      const invocation: Invocation = {
        ...{ claim, journal: [], endings, hasEnded: false, crashCount: 0, abandonedCount: 0, executions: [] },
        attempt: createAttempt({ endings }),
      };
      invocations.push(invocation);
      return letRun(() => start(invocation, false));
    },
    /** Ends the attempt. A process that is alive goes on with the steps that it executes. */
    crash(invocation: Invocation, isProcessAlive: boolean) {
      invocation.crashCount++;
      return letRun(() => start(invocation, isProcessAlive));
    },
    resume(execution: StepExecution) {
      const { resume } = execution;
      execution.resume = undefined;
      return letRun(() => {
        current = execution;
        resume!();
      });
    },
    waitsOf: ({ attempt, hasEnded }: Invocation) => (hasEnded ? [] : attempt.waits.filter(({ isOver }) => !isOver)),
    /** Ends a wait with the reason of its wakeup, or by its timer. */
    wake(invocation: Invocation, entry: WaitEntry, isTimer: boolean) {
      const wakeup = wakeups.get(entry.id)!;
      entry.isOver = true;
      if (isTimer) clock.now = Math.max(clock.now, entry.until);
      else {
        entry.reason = wakeup.reason;
        wakeup.isConsumed = true;
      }
      invocation.endings.push(entry);
      return letRun(() => showEndings(invocation));
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
