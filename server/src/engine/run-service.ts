// Executes runs on Restate: each step is journalled, each wait is an awakeable with a timeout. Only the engine module
// depends on Restate.
import * as restate from "@restatedev/restate-sdk";
import { Fault, type FaultCode, type FaultDetails, isTransient } from "../faults/faults.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { WakeupReason } from "../runs/core/notifications.ts";
import { executeRun } from "../runs/execute/execute.ts";
import type { EngineOperation, RunEngine } from "../runs/execute/run-engine.ts";
import type { RunSteps } from "../runs/steps.ts";
import type { RunInvocation } from "./engine-client.ts";
import type { InFlightSteps } from "./in-flight-steps.ts";
import { INVOCATION_TRACE_HEADER, type TraceStep, traceInvocation } from "./trace-invocation.ts";

type StepOutcome<T> = { value: T } | { fault: { code: FaultCode; details: FaultDetails } };

const captureFault = async <T>(work: () => Promise<T>): Promise<StepOutcome<T>> => {
  try {
    return { value: await work() };
  } catch (thrown) {
    // The engine retries the step after a transient fault. Any other fault is journalled as the result of the step.
    if (thrown instanceof Fault && !isTransient(thrown)) {
      return { fault: { code: thrown.code, details: thrown.details } };
    }
    throw thrown;
  }
};

const RETRY = { initialRetryInterval: 100, maxRetryInterval: 2000, retryIntervalFactor: 2 };

/** An operation of Restate. `waitForFirst` needs its promise itself, because only the SDK can race its promises. */
class RestateOperation<S, T> implements EngineOperation<T> {
  readonly source: restate.RestatePromise<S>;
  readonly #read: (settled: Promise<S>) => Promise<T>;
  constructor(source: restate.RestatePromise<S>, read: (settled: Promise<S>) => Promise<T>) {
    this.source = source;
    this.#read = read;
  }
  then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#read(this.source.then((value) => value)).then(onFulfilled, onRejected);
  }
}

const createRestateEngine = (
  context: restate.Context,
  inFlightSteps: InFlightSteps,
  traceStep: TraceStep,
): RunEngine => ({
  step: (name, work) =>
    new RestateOperation(
      context.run(name, () => inFlightSteps.track(() => captureFault(() => traceStep(name, work))), RETRY),
      async (settled) => {
        const outcome = await settled;
        if ("fault" in outcome) throw new Fault(outcome.fault.code, outcome.fault.details);
        return outcome.value;
      },
    ),
  createWakeup() {
    const { id, promise } = context.awakeable<WakeupReason>();
    return {
      id,
      wait: (seconds) =>
        new RestateOperation(promise.orTimeout(Math.ceil(seconds * 1000)), (settled) =>
          settled.catch((thrown) => {
            if (thrown instanceof restate.TimeoutError) return undefined;
            throw thrown;
          }),
        ),
    };
  },
  waitForFirst: async (operations) =>
    restate.RestatePromise.race(
      (operations as RestateOperation<unknown, unknown>[]).map(({ source }, index) => source.map(() => index)),
    ),
});

export const runService = (steps: RunSteps, inFlightSteps: InFlightSteps, tracing: Tracing) =>
  restate.service({
    name: "Run",
    handlers: {
      run: (context: restate.Context, { plan, ...claim }: RunInvocation) =>
        traceInvocation(tracing, claim, context.request().headers.get(INVOCATION_TRACE_HEADER), (traceStep) =>
          executeRun(claim, createRestateEngine(context, inFlightSteps, traceStep), steps, plan),
        ),
    },
    options: {
      // PostgreSQL holds the state of ended runs. The journal is retained only for debugging.
      idempotencyRetention: { hours: 1 },
      journalRetention: { minutes: 10 },
      // A waiting run is suspended after 10 s. An executing run may take as long as its slowest step: a step that waits
      // for the storage holds fetched sources until the deadline of its run, which an abort would fetch again. A worker
      // that died is noticed by the claim of the run, not by this timeout.
      inactivityTimeout: { seconds: 10 },
      abortTimeout: { hours: 2 },
      // The engine practically never gives up: deadlines are enforced by the run and by the reconciler.
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
  name: "EngineIncarnation",
  handlers: {
    read: async (context: restate.ObjectContext) => (await context.get<string>("incarnation")) ?? null,
    write: async (context: restate.ObjectContext, incarnation: string) => context.set("incarnation", incarnation),
  },
});
