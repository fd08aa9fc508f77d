// Runs one operation for many inputs, a few at a time. The idempotency keys follow from a prefix and the index of the
// input, so a batch that is started again after a crash gets the runs that it has already paid for.
import type { RunCall } from "./call.ts";
import { ConnectionError, GessoError, RunFailedError } from "./errors.ts";
import { backoffMs, isRetryable, retryAfterMs, sleep } from "./retry.ts";
import type { FinishedRun } from "./wait-for-run.ts";

/** An operation that creates a run, such as `client.images.generate`, or your own function around one. */
export type BatchOperation = (input: never, options: { idempotencyKey: string }) => RunCall<unknown, FinishedRun>;

type InputOf<Operation extends BatchOperation> = Parameters<Operation>[0];
type RunOf<Operation extends BatchOperation> = Awaited<ReturnType<ReturnType<Operation>["wait"]>>;

/** Of each input, in the order of the inputs. */
export type BatchResults<Operation extends BatchOperation> = Promise<BatchResult<RunOf<Operation>>[]>;

/** How one input ended: with its run, or with an error. */
export type BatchResult<Finished = FinishedRun> =
  | { index: number; run: Finished; error?: undefined }
  | { index: number; run?: undefined; error: Error };

/** Progress of a batch. */
export type BatchProgress<Finished = FinishedRun> = {
  total: number;
  completed: number;
  failed: number;
  /** The result that has just been added. */
  result: BatchResult<Finished>;
};

/** How a batch runs. */
export type BatchOptions<Operation extends BatchOperation> = {
  /** The operation that each input is for. */
  operation: Operation;
  /** Maximum number of open runs. Default: 4. */
  concurrency?: number;
  /**
   * Begins the idempotency keys. A batch with the same prefix and inputs returns the same runs, so keep it for another
   * start. Default: a random one.
   */
  keyPrefix?: string;
  /** How often to try an input again after a temporary failure. A failed run is followed by a new one. Default: 0. */
  retryFailed?: number;
  /** Called after each input. The batch waits for its promise, so it can save a file. If it throws, the batch ends. */
  onProgress?: (progress: BatchProgress<RunOf<Operation>>) => unknown;
  /** Maximum time to wait for one run in milliseconds. Default: 600,000. */
  timeout?: number;
  /** Ends the batch: inputs without a result get an `AbortedError`. Open runs continue; the same batch finds them. */
  signal?: AbortSignal;
  /** Whether `signal` also cancels the open runs. Default: false. */
  cancelOnAbort?: boolean;
};

/**
 * Runs an operation for each input and returns the results in their order. An error is part of its result, so one
 * failure does not end the others.
 * @example const results = await batch([{ prompt: "a fox" }], { operation: imagesOf(connect()).generate })
 */
export async function batch<Operation extends BatchOperation>(
  inputs: readonly InputOf<Operation>[],
  options: BatchOptions<Operation>,
): BatchResults<Operation> {
  const { concurrency = 4, keyPrefix = `gesso-${crypto.randomUUID()}`, onProgress } = options;
  if (!(concurrency >= 1)) throw new GessoError("concurrency must be at least 1");
  const results: BatchResult<RunOf<Operation>>[] = [];
  const progress = { total: inputs.length, completed: 0, failed: 0 };
  let next = 0;
  const work = async () => {
    while (next < inputs.length) {
      const index = next++;
      const result = await runInput(inputs[index]!, index, { ...options, keyPrefix });
      results[index] = result;
      progress[result.error ? "failed" : "completed"] += 1;
      try {
        await onProgress?.({ ...progress, result });
      } catch (thrown) {
        next = inputs.length;
        throw thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, inputs.length) }, work));
  return results;
}

async function runInput<Operation extends BatchOperation>(
  input: InputOf<Operation>,
  index: number,
  options: BatchOptions<Operation>,
): Promise<BatchResult<RunOf<Operation>>> {
  const { operation, keyPrefix, retryFailed = 0, signal, timeout, cancelOnAbort = false } = options;
  const wait = { ...(signal && { signal }), ...(timeout && { timeout }), cancelOnAbort };
  let failedRuns = 0;
  for (let retry = 0; ; retry++) {
    // A key that belongs to a failed run returns that run forever.
    const idempotencyKey = `${keyPrefix}-${index}${failedRuns > 0 ? `.${failedRuns + 1}` : ""}`;
    try {
      const run = await operation(input, { idempotencyKey }).wait(wait);
      return { index, run: run as RunOf<Operation> };
    } catch (thrown) {
      const error = thrown as Error;
      if (retry >= retryFailed || !isTemporary(error)) return { index, error };
      if (RunFailedError.isInstance(error)) failedRuns += 1;
      const { headers } = error as GessoError;
      await sleep((headers && retryAfterMs(headers)) ?? backoffMs(retry), signal);
    }
  }
}

/** After an error without a failed run, the same key finds the run that the request may have created. */
const isTemporary = (error: Error): boolean =>
  GessoError.isInstance(error) &&
  (error.details.retryable === true || ConnectionError.isInstance(error) || isRetryable(error));
