// From a call to its finished run. The run's events tell when it has ended. Where they do not come through, the server is
// asked with `Prefer: wait`, so it answers when there is something to say; where that is not honoured we ask once a second.
// A state that we do not know never holds a waiter for ever.
import { type Exchange, GET_RUN, type Line } from "./connection.ts";
import { GessoError, RunCanceledError, RunFailedError, TimeoutError } from "./errors.ts";
import { follow as followEvents } from "./events.ts";
import type { Run } from "./generated/shapes.ts";
import { type Media, mediaAt } from "./media.ts";
import type { Operation } from "./operation.ts";
import { pause } from "./retry.ts";
import { aborted, send } from "./send.ts";

/** How to wait for a run. */
export type WaitOptions = {
  /** Told how the run stands whenever it has changed, and when it has ended. */
  onProgress?: (run: Run) => void;
  /** Stops waiting, and cancels the run unless `cancelOnAbort` is false. */
  signal?: AbortSignal;
  /** Milliseconds to wait in all; 600,000. The run goes on after that. */
  timeout?: number;
  /** Whether `signal` also cancels the run. True: nobody is waiting for it any more. */
  cancelOnAbort?: boolean;
};

/** A run that has completed, with its files at hand. They are not part of its JSON. */
export type FinishedRun = Run & {
  readonly image: Media | null;
  readonly images: Media[];
  readonly video: Media | null;
};

const WAIT_MS = 600_000;
const LONG_SECONDS = 25;
const LIVELY_SECONDS = 2;
const POLL_MS = 1_000;
/** An open stream says so at once. */
const PATIENCE_MS = 5_000;
/** An open run that is answered quicker than this was not waited for. */
const HASTE_MS = 500;
/** A server that restarts is away longer than a single call would put up with. */
const POLL_RETRIES = 6;

type Waiter = {
  line: Line;
  exchange: Exchange;
  options: WaitOptions;
  stop: AbortSignal;
  seen: { run?: Run; runId?: string };
};

export function wait(line: Line, exchange: Exchange, options: WaitOptions = {}): Promise<FinishedRun> {
  const { signal, timeout = WAIT_MS, cancelOnAbort = true } = options;
  const stop = new AbortController();
  const waiter: Waiter = { line, exchange, options, stop: stop.signal, seen: {} };
  if (signal?.aborted) exchange.drop(signal);
  exchange.expectRun();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
      settle();
    };
    const onAbort = () => {
      end(() => reject(aborted(signal!, exchange.idempotencyKey, waiter.seen.runId)));
      // The call may still be on its way: as soon as it tells its run, that is canceled.
      if (cancelOnAbort) cancel(waiter).catch(() => {});
    };
    const timer = setTimeout(() => {
      const { runId } = waiter.seen;
      const says = `The run ${runId ?? ""} has not ended within ${timeout} ms; it goes on`;
      end(() => reject(new TimeoutError(says, { runId, idempotencyKey: exchange.idempotencyKey })));
    }, timeout);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    follow(waiter).then(
      (run) => end(() => resolve(run)),
      (thrown) => end(() => reject(thrown)),
    );
  });
}

async function follow(waiter: Waiter): Promise<FinishedRun> {
  const { line, options, seen, stop } = waiter;
  const begun = await beginning(waiter);
  seen.runId = begun.runId;
  let run = begun.run;
  let hasWarned = run !== undefined || !(await listen(waiter, begun.runId));
  const seconds = options.onProgress ? LIVELY_SECONDS : LONG_SECONDS;
  while (!run || !isEnded(run)) {
    const askedAt = Date.now();
    run = await ask(waiter, begun.runId, seconds);
    seen.run = run;
    options.onProgress?.(run);
    if (!isEnded(run) && Date.now() - askedAt < HASTE_MS) {
      if (!hasWarned) line.settings.log.warn("gesso: the server answers without waiting; asking once a second");
      hasWarned = true;
      await pause(POLL_MS, stop);
    }
    if (stop.aborted) throw aborted(stop);
  }
  return ended(line, run);
}

const EVENTS: Operation = { ...GET_RUN, name: "runs.events", path: `${GET_RUN.path}/events` };

/** Returns when the run has ended; false when its events do not come through, and nobody knows. */
async function listen({ line, exchange, options, stop }: Waiter, run_id: string): Promise<boolean> {
  const { settings } = line;
  const own = { ...line, baseUrl: exchange.baseUrl };
  let run: Run | undefined;
  try {
    const asked = { operation: EVENTS, input: { run_id }, options: { signal: stop }, patienceMs: PATIENCE_MS };
    for await (const { data } of followEvents(own, asked)) {
      if (!options.onProgress || isEnded(data as Run)) continue;
      run ??= await ask({ line, exchange, options, stop, seen: {} }, run_id, 0);
      options.onProgress({ ...run, ...data } as Run);
    }
    return true;
  } catch (thrown) {
    if (stop.aborted) throw thrown;
    settings.log.warn(`gesso: the events of a run do not come through (${(thrown as Error).message}); asking instead`);
    return false;
  }
}

type Loose = { run_id?: string; runId?: string; data?: { run_id?: string } };

/** Which run the call made, from wherever the answer tells it. */
async function beginning({ exchange }: Waiter): Promise<{ runId: string; run?: Run }> {
  let response: Response;
  try {
    response = (await exchange.answer()).clone();
  } catch (thrown) {
    if (GessoError.isInstance(thrown) && thrown.runId) return { runId: thrown.runId };
    throw thrown;
  }
  const told = response.headers.get("x-run-id") ?? undefined;
  const isJson = response.headers.get("content-type")?.includes("json");
  if (told && !isJson) return { runId: told };
  // A page of another origin may not be shown our headers: the same key finds the run again.
  const body = (await (isJson ? response : await exchange.again()).json()) as Loose;
  const runId = body.run_id ?? body.runId ?? body.data?.run_id ?? told;
  if (!runId) throw new GessoError("The answer names no run", { idempotencyKey: exchange.idempotencyKey });
  const isRun = "outputs" in body && isEnded(body as Run);
  return isRun ? { runId, run: body as Run } : { runId };
}

const request = ({ line, exchange }: Waiter, path: string) => ({
  url: exchange.baseUrl + GET_RUN.path.replace("{run_id}", path),
  body: async () => ({ headers: {} }),
  maxRetries: Math.max(POLL_RETRIES, line.settings.maxRetries),
});

async function ask(waiter: Waiter, runId: string, seconds: number): Promise<Run> {
  const { settings, credential } = waiter.line;
  const response = await send(settings, credential, {
    ...request(waiter, runId),
    method: "GET",
    headers: { accept: "application/json", prefer: `wait=${seconds}` },
    timeoutMs: (seconds + 30) * 1000,
    signal: waiter.stop,
  });
  return (await response.json()) as Run;
}

async function cancel(waiter: Waiter): Promise<void> {
  const { settings, credential } = waiter.line;
  const runId = waiter.seen.runId ?? (await beginning(waiter)).runId;
  const headers = { accept: "application/json" };
  await send(settings, credential, {
    ...request(waiter, `${runId}/cancel`),
    method: "POST",
    headers,
    timeoutMs: 30_000,
  });
}

const OPEN = ["queued", "pending", "processing"];
const ENDED = ["completed", "failed", "canceled"];

/** A state of a newer server is open until the run says when it finished. */
const isEnded = ({ status, finished_at }: Run): boolean =>
  ENDED.includes(status) || (!OPEN.includes(status) && Boolean(finished_at));

function ended(line: Line, run: Run): FinishedRun {
  const facts = { run, runId: run.run_id, code: run.error?.code, details: run.error?.details };
  if (run.status === "canceled") throw new RunCanceledError(`The run ${run.run_id} was canceled`, facts);
  if (run.status === "failed" || run.error) {
    throw new RunFailedError(`The run ${run.run_id} failed: ${run.error?.message ?? run.status}`, facts);
  }
  return withFiles(line, run);
}

function withFiles(line: Line, run: Run): FinishedRun {
  const at = (url: string | null) => (url ? mediaAt(line, url, run.run_id) : null);
  const hidden = {
    image: { get: () => at(run.image_url) },
    images: { get: () => run.image_urls.map((url) => at(url)) },
    video: { get: () => at(run.video_url) },
  };
  return Object.defineProperties(run, hidden) as FinishedRun;
}
