// Brings every accepted job to its end, once, and lets its caller know. A restart takes up whatever was left undone.
import { setTimeout as wait } from "node:timers/promises";
import type { Book } from "./book.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Inputs } from "./inputs.ts";
import { delaySecondsOf, hasEnded, type Job, type JobError, showJob } from "./job.ts";
import { findTask } from "./tasks/index.ts";
import type { Findings } from "./tasks/task.ts";
import type { Encoder } from "./video/encoder.ts";

export type Runner = {
  start(job: Job): void;
  cancel(job: Job): void;
  /** Resolves when the job has ended and its callback was tried for the first time. */
  whenEnded(job: Job): Promise<void>;
  /** Takes up the jobs and callbacks that an earlier process left undone. */
  resume(): void;
  /** Stops all work and resolves when nothing is at work any more. */
  close(): Promise<void>;
};

type Parts = { book: Book; callbacks: Callbacks; inputs: Inputs; url: string; encoder: Encoder };
type Result = Findings | { error: JobError; status?: "refused" };

const ordered = ({ behaviour }: Job): Result | undefined => {
  if (behaviour.fail) return { error: { code: "generation_failed", message: "The picture failed." } };
  if (!behaviour.refuse) return undefined;
  return { error: { code: "content_policy", message: "We do not draw this." }, status: "refused" };
};

export const openRunner = ({ book, callbacks, inputs, url, encoder }: Parts): Runner => {
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  const waiting = new Map<string, () => void>();
  let isClosed = false;

  const tell = async (job: Job): Promise<void> => {
    const { callback_url } = job.request;
    if (callback_url && !job.behaviour.no_callback) {
      const letter = { url: callback_url, body: JSON.stringify(showJob(job, url)) };
      await callbacks.send(letter, (taken) => book.record({ fact: "callback", id: job.id, taken }));
    }
    waiting.get(job.id)?.();
    waiting.delete(job.id);
  };

  const end = (job: Job, result: Result): void => {
    if (isClosed || hasEnded(job)) return;
    const ended = { fact: "ended", id: job.id, at: new Date().toISOString() } as const;
    if ("error" in result) book.record({ ...ended, status: result.status ?? "failed", error: result.error });
    else book.record({ ...ended, status: "succeeded", error: null, findings: result });
    void tell(job);
  };

  const work = async (job: Job, signal: AbortSignal): Promise<Result> => {
    const { request, seed } = job;
    const task = findTask(request.task);
    if (!task) return { error: { code: "generation_failed", message: `There is no task ${request.task}.` } };
    const report = (share: number): void => {
      job.reported = Math.max(job.reported ?? 0, share);
    };
    const file = inputs.fileFor(job);
    const asked = { request, seed, file, inputs: () => inputs.read(job), signal, report, encoder };
    return task.find(asked).catch((cause: unknown) => ({
      error: { code: "generation_failed", message: cause instanceof Error ? cause.message : String(cause) },
    }));
  };

  const run = async (job: Job, signal: AbortSignal): Promise<void> => {
    job.status = "running";
    job.startedAt = Date.now();
    if (job.request.images.length || job.request.mask) {
      const complaint = await inputs.gather(job);
      if (complaint) return end(job, { error: { code: "invalid_input", message: complaint } });
    }
    if (job.behaviour.never || signal.aborted) return;
    const delay = delaySecondsOf(job) * 1000;
    const passed = delay ? wait(delay, undefined, { signal }).catch(() => undefined) : undefined;
    const result = ordered(job) ?? (await work(job, signal));
    if (passed) await passed;
    if (!signal.aborted) end(job, result);
  };

  // The answer to the POST is written before this turn of the loop is over; the job begins right after it.
  const start = (job: Job): void =>
    void setImmediate(() => {
      if (isClosed || hasEnded(job)) return;
      const stop = new AbortController();
      const done = run(job, stop.signal).finally(() => running.delete(job.id));
      running.set(job.id, { stop, done });
    });

  return {
    start,
    cancel: (job) => {
      book.record({ fact: "canceled", id: job.id, at: new Date().toISOString() });
      running.get(job.id)?.stop.abort();
      void tell(job);
    },
    whenEnded: (job) => new Promise((resolve) => waiting.set(job.id, resolve)),
    resume: () => {
      for (const job of book.jobs.values()) {
        if (!hasEnded(job)) start(job);
        else if (!job.callback_taken) void tell(job);
      }
    },
    close: async () => {
      isClosed = true;
      const left = [...running.values()];
      for (const { stop } of left) stop.abort();
      await Promise.allSettled(left.map(({ done }) => done));
    },
  };
};
