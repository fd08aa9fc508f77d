// An abort signal for the time limit of a request, as AbortSignal.timeout, on the clock that is handed in.
import type { Clock } from "./clock.ts";

/** `stop`: the request has ended. The timer does not keep the process alive. */
export type TimeoutSignal = { signal: AbortSignal; stop(): void };

/** The reason of the signal is a `TimeoutError`. */
export function createTimeoutSignal(clock: Pick<Clock, "after">, ms: number): TimeoutSignal {
  const control = new AbortController();
  const abort = () => control.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  const { stop } = clock.after(ms, abort).unref();
  return { signal: control.signal, stop };
}
