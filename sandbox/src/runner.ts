// Runs every accepted job to its end, once, and sends its callback. After a restart unfinished jobs continue.
import { setTimeout as wait } from "node:timers/promises";
import type { CallbackSender } from "./callbacks.ts";
import type { InputFiles } from "./inputs.ts";
import { delaySecondsOf, hasEnded, type Job, type JobError, renderJob } from "./job.ts";
import type { JobStore } from "./job-store.ts";
import { findTask } from "./tasks/index.ts";
import type { TaskResult } from "./tasks/task.ts";
import type { Encoder } from "./video/encoder.ts";

export type JobRunner = {
  start(job: Job): void;
  cancel(job: Job): void;
  /** Resolves when the job has ended and its first callback attempt is done. */
  whenEnded(job: Job): Promise<void>;
  /** Continues the jobs and callbacks that an earlier process left unfinished. */
  resume(): void;
  /** Stops all work and resolves when nothing is running. */
  close(): Promise<void>;
};

type JobRunnerDependencies = {
  jobStore: JobStore;
  callbacks: CallbackSender;
  inputs: InputFiles;
  url: string;
  encoder: Encoder;
};
type JobResult = TaskResult | { error: JobError; status?: "refused" };

const injectedResult = ({ behaviour }: Job): JobResult | undefined => {
  if (behaviour.fail) return { error: { code: "generation_failed", message: "Image generation failed." } };
  if (!behaviour.refuse) return undefined;
  return { error: { code: "content_policy", message: "The prompt violates the content policy." }, status: "refused" };
};

const callbackEvent = ({ id }: Job, taken: boolean) =>
  ({ fact: "callback", id, taken, at: new Date().toISOString() }) as const;

export const createJobRunner = ({ jobStore, callbacks, inputs, url, encoder }: JobRunnerDependencies): JobRunner => {
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  const waiting = new Map<string, () => void>();
  let isClosed = false;

  const sendCallback = async (job: Job): Promise<void> => {
    const { callback_url } = job.request;
    if (callback_url && !job.behaviour.no_callback) {
      const letter = { url: callback_url, body: JSON.stringify(renderJob(job, url)) };
      await callbacks.send(letter, (taken) => jobStore.append(callbackEvent(job, taken)));
    }
    waiting.get(job.id)?.();
    waiting.delete(job.id);
  };

  const end = (job: Job, result: JobResult): void => {
    if (isClosed || hasEnded(job)) return;
    const ended = { fact: "ended", id: job.id, at: new Date().toISOString() } as const;
    if ("error" in result) jobStore.append({ ...ended, status: result.status ?? "failed", error: result.error });
    else jobStore.append({ ...ended, status: "succeeded", error: null, findings: result });
    void sendCallback(job);
  };

  const work = async (job: Job, signal: AbortSignal): Promise<JobResult> => {
    const { request, seed } = job;
    const task = findTask(request.task);
    if (!task) return { error: { code: "generation_failed", message: `Unknown task: ${request.task}.` } };
    const report = (share: number): void => {
      job.reportedProgress = Math.max(job.reportedProgress ?? 0, share);
    };
    const file = inputs.outputPathFor(job);
    const input = { request, seed, file, inputs: () => inputs.read(job), signal, report, encoder };
    return task.find(input).catch((cause: unknown) => ({
      error: { code: "generation_failed", message: cause instanceof Error ? cause.message : String(cause) },
    }));
  };

  const run = async (job: Job, signal: AbortSignal): Promise<void> => {
    job.status = "running";
    job.startedAt = Date.now();
    if (job.request.images.length || job.request.mask) {
      const problem = await inputs.fetchAndValidate(job);
      if (problem) return end(job, { error: { code: "invalid_input", message: problem } });
    }
    if (job.behaviour.never || signal.aborted) return;
    const delay = delaySecondsOf(job) * 1000;
    const passed = delay ? wait(delay, undefined, { signal }).catch(() => undefined) : undefined;
    const result = injectedResult(job) ?? (await work(job, signal));
    if (passed) await passed;
    if (!signal.aborted) end(job, result);
  };

  // The response to the POST is written in this turn of the event loop; the job starts right after it.
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
      jobStore.append({ fact: "canceled", id: job.id, at: new Date().toISOString() });
      running.get(job.id)?.stop.abort();
      void sendCallback(job);
    },
    whenEnded: (job) => new Promise((resolve) => waiting.set(job.id, resolve)),
    resume: () => {
      for (const job of jobStore.jobs.values()) {
        if (!hasEnded(job)) start(job);
        else if (job.callback_taken_at === null) void sendCallback(job);
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
