// Brings every accepted job to its end, once, and lets its caller know. A restart takes up whatever was left undone.
import type { Book } from "./book.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Inputs } from "./inputs.ts";
import { delaySecondsOf, hasEnded, type Job, showJob } from "./job.ts";

export type Runner = {
  start(job: Job): void;
  cancel(job: Job): void;
  /** Resolves when the job has ended and its callback was tried for the first time. */
  whenEnded(job: Job): Promise<void>;
  /** Takes up the jobs and callbacks that an earlier process left undone. */
  resume(): void;
  close(): void;
};

type Parts = { book: Book; callbacks: Callbacks; inputs: Inputs; url: string };

export const openRunner = ({ book, callbacks, inputs, url }: Parts): Runner => {
  const timers = new Map<string, NodeJS.Timeout>();
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

  const end = (job: Job, status: "succeeded" | "failed" | "refused", error: Job["error"]): void => {
    if (isClosed || hasEnded(job)) return;
    book.record({ fact: "ended", id: job.id, at: new Date().toISOString(), status, error });
    void tell(job);
  };

  const finish = (job: Job): void => {
    timers.delete(job.id);
    if (job.behaviour.fail) end(job, "failed", { code: "generation_failed", message: "The picture failed." });
    else if (job.behaviour.refuse) end(job, "refused", { code: "content_policy", message: "We do not draw this." });
    else end(job, "succeeded", null);
  };

  const run = async (job: Job): Promise<void> => {
    if (isClosed || hasEnded(job)) return;
    job.status = "running";
    job.startedAt = Date.now();
    if (job.request.images.length || job.request.mask) {
      const complaint = await inputs.gather(job);
      if (complaint) return end(job, "failed", { code: "invalid_input", message: complaint });
    }
    if (job.behaviour.never || isClosed || hasEnded(job)) return;
    const delay = delaySecondsOf(job) * 1000;
    if (delay === 0) return finish(job);
    timers.set(job.id, setTimeout(finish, delay, job));
  };

  // The answer to the POST is written before this turn of the loop is over; the job begins right after it.
  const start = (job: Job): void => void setImmediate(() => void run(job));

  return {
    start,
    cancel: (job) => {
      clearTimeout(timers.get(job.id));
      timers.delete(job.id);
      book.record({ fact: "canceled", id: job.id, at: new Date().toISOString() });
      void tell(job);
    },
    whenEnded: (job) => new Promise((resolve) => waiting.set(job.id, resolve)),
    resume: () => {
      for (const job of book.jobs.values()) {
        if (!hasEnded(job)) start(job);
        else if (!job.callback_taken) void tell(job);
      }
    },
    close: () => {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
};
