// Runs several flows of a run side by side within one engine invocation. At any time at most one flow runs: each stops
// at its next engine operation, and the engine decides whose operation has ended first. A replay of the journal
// therefore repeats the same interleaving, which concurrent async functions would not.
import type { EngineOperation, FlowEngine, RunEngine } from "./run-engine.ts";

type Flow<T> = {
  /** The operation that the flow waits for; undefined if the flow has ended. */
  operation: EngineOperation<unknown> | undefined;
  /** Continues the flow with the result of its operation until it waits again or ends. */
  resume(): Promise<void>;
  result: PromiseSettledResult<T> | undefined;
};

/** Returns the results of all flows in the order of the flows. A flow that throws does not stop the others. */
export async function runSideBySide<T>(
  engine: RunEngine,
  flows: ((engine: FlowEngine) => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const started: Flow<T>[] = [];
  for (const flow of flows) started.push(await startFlow(engine, flow));
  for (;;) {
    const waiting = started.filter(({ operation }) => operation !== undefined);
    if (waiting.length === 0) return started.map(({ result }) => result!);
    const first = await engine.waitForFirst(waiting.map(({ operation }) => operation!));
    await waiting[first]!.resume();
  }
}

async function startFlow<T>(engine: RunEngine, run: (engine: FlowEngine) => Promise<T>): Promise<Flow<T>> {
  const flow: Flow<T> = { operation: undefined, resume: async () => {}, result: undefined };
  let onStopped = () => {};
  /** Returns when the flow waits for its next operation or has ended. */
  const runUntilStopped = (proceed: () => void) =>
    new Promise<void>((resolve) => {
      onStopped = resolve;
      proceed();
    });
  const stopAt = <R>(operation: EngineOperation<R>) =>
    new Promise<R>((resolve, reject) => {
      flow.operation = operation;
      flow.resume = () =>
        runUntilStopped(() => {
          flow.operation = undefined;
          operation.then(resolve, reject);
        });
      onStopped();
    });
  const end = (result: PromiseSettledResult<T>) => {
    flow.result = result;
    onStopped();
  };

  const flowEngine: FlowEngine = {
    step: (name, work) => stopAt(engine.step(name, work)),
    createWakeup() {
      const { id, wait } = engine.createWakeup();
      return { id, wait: (seconds) => stopAt(wait(seconds)) };
    },
  };
  await runUntilStopped(() =>
    run(flowEngine).then(
      (value) => end({ status: "fulfilled", value }),
      (reason) => end({ status: "rejected", reason }),
    ),
  );
  return flow;
}
