// Waits for a run to end: by its event stream; without it, by long polling with `Prefer: wait`; if the server ignores
// that header, by polling every second. An unknown status counts as ended once finished_at is set.
import { type ConnectionInternals, GET_RUN, type PendingRequest } from "./connection.ts";
import { GessoError, RunCanceledError, RunFailedError, TimeoutError } from "./errors.ts";
import { followEvents } from "./event-streams.ts";
import type { Run } from "./generated/shapes.ts";
import { type Media, mediaFromUrl } from "./media.ts";
import type { Operation } from "./operation.ts";
import { sleep } from "./retry.ts";
import { abortedError } from "./send-request.ts";
import type { CallOptions } from "./settings.ts";

/** How to wait for a run. */
export type WaitOptions = {
  /** Called with the run whenever it changes, and when it has ended. */
  onProgress?: (run: Run) => void;
  /** Stops waiting, and cancels the run unless `cancelOnAbort` is false. */
  signal?: AbortSignal;
  /** Maximum time to wait in milliseconds. Default: 600,000. The run continues after that. */
  timeout?: number;
  /** Whether `signal` also cancels the run. Default: true. */
  cancelOnAbort?: boolean;
};

/** A completed run with accessors for its files, which are not part of its JSON. */
export type FinishedRun = Run & {
  readonly image: Media | null;
  readonly images: Media[];
  readonly video: Media | null;
  /** The first sound. */
  readonly audio: Media | null;
  /** The first 3D scene. */
  readonly model3d: Media | null;
  /** All files in the order of `outputs`, which has their media types. */
  readonly files: Media[];
};

/** A completed run that made an image. */
export type ImageRun = FinishedRun & { readonly image: Media };
/** A completed run that made a video. */
export type VideoRun = FinishedRun & { readonly video: Media };

const WAIT_MS = 600_000;
const LONG_POLL_SECONDS = 25;
const PROGRESS_POLL_SECONDS = 2;
const POLL_MS = 1_000;
/** The server sends the first event right after the stream opens. */
const FIRST_EVENT_TIMEOUT_MS = 5_000;
/** If an unfinished run is returned faster than this, the server ignored `Prefer: wait`. */
const MIN_LONG_POLL_MS = 500;
/** More than for other calls, so that waiting survives a restart of the server. */
const POLL_RETRIES = 6;

type RunWait = {
  exchange: PendingRequest;
  options: WaitOptions;
  stop: AbortSignal;
  seen: { run?: Run; runId?: string };
};

export function waitForRun(exchange: PendingRequest, options: WaitOptions = {}): Promise<FinishedRun> {
  const { signal, timeout = WAIT_MS, cancelOnAbort = true } = options;
  const stop = new AbortController();
  const waiter: RunWait = { exchange, options, stop: stop.signal, seen: {} };
  if (signal?.aborted) exchange.cancelBeforeSend(signal);
  exchange.requestRun();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
      settle();
    };
    const onAbort = () => {
      end(() => reject(abortedError(signal!, exchange.idempotencyKey, waiter.seen.runId)));
      // The request may still be in flight: the run is canceled as soon as its ID is known.
      if (cancelOnAbort) cancel(waiter).catch(() => {});
    };
    const timer = setTimeout(() => {
      const { runId } = waiter.seen;
      const message = `Run ${runId ?? ""} did not end within ${timeout} ms; it continues`;
      end(() => reject(new TimeoutError(message, { runId, idempotencyKey: exchange.idempotencyKey })));
    }, timeout);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    waitUntilEnded(waiter).then(
      (run) => end(() => resolve(run)),
      (thrown) => end(() => reject(thrown)),
    );
  });
}

async function waitUntilEnded(waiter: RunWait): Promise<FinishedRun> {
  const { exchange, options, seen, stop } = waiter;
  const begun = await resolveRunId(waiter);
  seen.runId = begun.runId;
  let run = begun.run;
  let hasWarned = run !== undefined || !(await waitByEvents(waiter, begun.runId));
  const seconds = options.onProgress ? PROGRESS_POLL_SECONDS : LONG_POLL_SECONDS;
  while (!run || !isEnded(run)) {
    const askedAt = Date.now();
    run = await pollRun(waiter, begun.runId, seconds);
    seen.run = run;
    options.onProgress?.(run);
    if (!isEnded(run) && Date.now() - askedAt < MIN_LONG_POLL_MS) {
      if (!hasWarned)
        exchange.connection.settings.log.warn("gesso: the server ignores Prefer: wait; polling every second");
      hasWarned = true;
      await sleep(POLL_MS, stop);
    }
    if (stop.aborted) throw abortedError(stop);
  }
  return toFinishedRun(exchange.connection, run);
}

const EVENTS: Operation = { ...GET_RUN, name: "runs.events", path: `${GET_RUN.path}/events` };

/** True when the run has ended; false if the event stream is unavailable. */
async function waitByEvents(waiter: RunWait, run_id: string): Promise<boolean> {
  const { exchange, options, stop } = waiter;
  let run: Run | undefined;
  try {
    const asked = {
      operation: EVENTS,
      input: { run_id },
      options: { signal: stop },
      firstEventTimeoutMs: FIRST_EVENT_TIMEOUT_MS,
    };
    for await (const { data } of followEvents(exchange.connection, asked)) {
      if (!options.onProgress || isEnded(data as Run)) continue;
      run ??= await pollRun(waiter, run_id, 0);
      options.onProgress({ ...run, ...data } as Run);
    }
    return true;
  } catch (thrown) {
    if (stop.aborted) throw thrown;
    exchange.connection.settings.log.warn(
      `gesso: event stream unavailable (${(thrown as Error).message}); polling instead`,
    );
    return false;
  }
}

type RunIdFields = { run_id?: string; runId?: string; data?: { run_id?: string } };

/** Finds the ID of the run that the call created, in the response or in its error. */
async function resolveRunId({ exchange }: RunWait): Promise<{ runId: string; run?: Run }> {
  let response: Response;
  try {
    response = (await exchange.response()).clone();
  } catch (thrown) {
    if (GessoError.isInstance(thrown) && thrown.runId) return { runId: thrown.runId };
    throw thrown;
  }
  const headerRunId = response.headers.get("x-run-id") ?? undefined;
  const isJson = response.headers.get("content-type")?.includes("json");
  if (headerRunId && !isJson) return { runId: headerRunId };
  // Cross-origin pages may not read the header: a resend with the same idempotency key returns the run.
  const body = (await (isJson ? response : await exchange.resend()).json()) as RunIdFields;
  const runId = body.run_id ?? body.runId ?? body.data?.run_id ?? headerRunId;
  if (!runId) throw new GessoError("The response contains no run ID", { idempotencyKey: exchange.idempotencyKey });
  const isRun = "outputs" in body && isEnded(body as Run);
  return isRun ? { runId, run: body as Run } : { runId };
}

/** Sends a request of the wait itself to the server that has the run. */
function requestOfRun({ exchange }: RunWait, operation: Operation, run_id: string, options: CallOptions) {
  const { settings, startRequest } = exchange.connection;
  const maxRetries = Math.max(POLL_RETRIES, settings.maxRetries);
  return startRequest(operation, { run_id }, { ...options, maxRetries }).response();
}

async function pollRun(waiter: RunWait, runId: string, seconds: number): Promise<Run> {
  const response = await requestOfRun(waiter, GET_RUN, runId, {
    headers: { prefer: `wait=${seconds}` },
    timeout: (seconds + 30) * 1000,
    signal: waiter.stop,
  });
  return (await response.json()) as Run;
}

const CANCEL_RUN: Operation = { name: "runs.cancel", path: `${GET_RUN.path}/cancel`, bodies: "", fields: {} };

async function cancel(waiter: RunWait): Promise<void> {
  const runId = waiter.seen.runId ?? (await resolveRunId(waiter)).runId;
  await requestOfRun(waiter, CANCEL_RUN, runId, { timeout: 30_000 });
}

const ENDED = ["completed", "failed", "canceled"];

/** A state of a newer server is open until the run says when it finished. */
const isEnded = ({ status, finished_at }: Run): boolean => ENDED.includes(status) || Boolean(finished_at);

function toFinishedRun(connection: ConnectionInternals, run: Run): FinishedRun {
  const { code, details } = run.error ?? {};
  const facts = { run, runId: run.run_id, code, details, serverUrl: connection.baseUrl };
  if (run.status === "canceled") throw new RunCanceledError(`The run ${run.run_id} was canceled`, facts);
  if (run.status === "failed" || run.error) {
    throw new RunFailedError(`The run ${run.run_id} failed: ${run.error?.message ?? run.status}`, facts);
  }
  return attachMedia(connection, run);
}

function attachMedia(connection: ConnectionInternals, run: Run): FinishedRun {
  const filesOf = (kind: string) => () =>
    run.outputs
      .filter(({ media_type }) => media_type.startsWith(kind))
      .map(({ url }) => mediaFromUrl(connection, url, run.run_id));
  const firstOf = (kind: string) => () => filesOf(kind)()[0] ?? null;
  // The parts of a result that is not a file, such as a description: they are in `result` too.
  const parts = Object.entries(run.result ?? {}).filter(([name]) => !(name in run));
  return Object.defineProperties(run, {
    ...Object.fromEntries(parts.map(([name, value]) => [name, { value }])),
    image: { get: firstOf("image/") },
    images: { get: filesOf("image/") },
    video: { get: firstOf("video/") },
    audio: { get: firstOf("audio/") },
    model3d: { get: firstOf("model/") },
    files: { get: filesOf("") },
  }) as FinishedRun;
}
