// The port to the durable engine: journalled steps, wakeups, and waiting for the first of several operations. Runs are
// written against it, so that they do not depend on a particular engine and can be simulated.
import type { WakeupReason } from "../core/notifications.ts";

/** The port to the durable engine. */
export type RunEngine = FlowEngine & {
  /**
   * Waits until one of the operations has ended and returns its position: the same one when the journal is replayed.
   */
  waitForFirst(operations: EngineOperation<unknown>[]): Promise<number>;
};
/** What one of several flows that run side by side may use. */
export type FlowEngine = {
  step<T>(name: string, work: () => Promise<T>): EngineOperation<T>;
  createWakeup(): Wakeup;
};
/** A step or a wait that the engine has started. */
export type EngineOperation<T> = PromiseLike<T>;
/** An awakeable: it can be resolved once from outside. Waiting for it returns its reason, or undefined on timeout. */
export type Wakeup = { id: string; wait(seconds: number): EngineOperation<WakeupReason | undefined> };
