// The life of a run on Restate: each step is journalled, each wait is an awakeable raced with a timer. This file and its
// neighbours are all that would change with another engine.
import * as restate from "@restatedev/restate-sdk";
import type { RunClaim } from "../db/runs/open-runs.ts";
import { Fault, type FaultCode, type FaultDetails } from "../faults.ts";
import { executeRun, type RunEngine, type RunSteps } from "../runs/execute.ts";
import type { WakeupReason } from "../runs/services.ts";
import type { InFlightSteps } from "./in-flight-steps.ts";

/** These pass by themselves: the step is done again. All other faults are the step's answer. */
const TRANSIENT_FAULTS: FaultCode[] = [
  "dependency_unavailable",
  "asset_unavailable",
  "storage_failed",
  "internal_error",
];

type StepOutcome<T> = { value: T } | { fault: { code: FaultCode; details: FaultDetails } };

const captureFault = async <T>(work: () => Promise<T>): Promise<StepOutcome<T>> => {
  try {
    return { value: await work() };
  } catch (thrown) {
    if (thrown instanceof Fault && !TRANSIENT_FAULTS.includes(thrown.code)) {
      return { fault: { code: thrown.code, details: thrown.details } };
    }
    throw thrown;
  }
};

const RETRY = { initialRetryInterval: 100, maxRetryInterval: 2000, retryIntervalFactor: 2 };

const createRestateEngine = (context: restate.Context, inFlightSteps: InFlightSteps): RunEngine => ({
  async step(name, work) {
    const answer = await context.run(name, () => inFlightSteps.track(() => captureFault(work)), RETRY);
    if ("fault" in answer) throw new Fault(answer.fault.code, answer.fault.details);
    return answer.value;
  },
  createWakeup() {
    const { id, promise } = context.awakeable<WakeupReason>();
    return {
      id,
      wait: (seconds) =>
        promise.orTimeout(Math.ceil(seconds * 1000)).catch((thrown) => {
          if (thrown instanceof restate.TimeoutError) return undefined;
          throw thrown;
        }),
    };
  },
});

export const runService = (steps: RunSteps, inFlightSteps: InFlightSteps) =>
  restate.service({
    name: "Run",
    handlers: {
      run: (context: restate.Context, claim: RunClaim) =>
        executeRun(claim, createRestateEngine(context, inFlightSteps), steps),
    },
    options: {
      // The truth is in PostgreSQL: what the engine keeps of ended runs is only for looking.
      idempotencyRetention: { hours: 1 },
      journalRetention: { minutes: 10 },
      // A waiting run lets go of its connection; a working one may take as long as its slowest step.
      inactivityTimeout: { seconds: 10 },
      abortTimeout: { minutes: 15 },
      // The engine never gives up by itself: deadlines are held outside it.
      retryPolicy: {
        initialInterval: 100,
        maxInterval: 5000,
        exponentiationFactor: 2,
        onMaxAttempts: "kill",
        maxAttempts: 10_000,
      },
    },
  });

/** Stores the engine incarnation. An engine without this marker has lost its journal. */
export const engineIncarnationService = restate.object({
  name: "EngineMark",
  handlers: {
    read: async (context: restate.ObjectContext) => (await context.get<string>("mark")) ?? null,
    write: async (context: restate.ObjectContext, mark: string) => context.set("mark", mark),
  },
});
