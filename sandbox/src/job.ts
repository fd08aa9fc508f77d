// A job: its request, its state, and its representation in the API.
import type { Behaviour } from "./behaviour.ts";
import type { StoredRequest } from "./request.ts";
import type { TaskResult } from "./tasks/task.ts";

export type FinalStatus = "succeeded" | "failed" | "refused" | "canceled";
type Status = "queued" | "running" | FinalStatus;
export type JobError = { code: string; message: string };

export type Job = {
  id: string;
  request: StoredRequest;
  behaviour: Behaviour;
  seed: number;
  idempotency_key: string | null;
  status: Status;
  error: JobError | null;
  /** The outputs of the job, once it has succeeded. */
  result: TaskResult;
  created_at: string;
  finished_at: string | null;
  canceled_at: string | null;
  posts: number;
  delivered: number;
  callback_attempts: number;
  /** When the receiver accepted the callback. */
  callback_taken_at: string | null;
  answer_lost: boolean;
  /** When this process started the job, in milliseconds; a restart sets it again. */
  startedAt: number | null;
  /** Progress that the task reports, if it does. */
  reportedProgress: number | null;
};

/** How a lost response can be recovered: by posting again (A), by looking up the reference (B), or not at all (C). */
export type RecoveryClass = "replay" | "find" | "blind";

export const recoveryClassOf = (model: string): RecoveryClass => {
  if (model.startsWith("find/")) return "find";
  return model.startsWith("blind/") ? "blind" : "replay";
};

/** Vendors have different mask conventions: for these models black is the area that changes. */
export const usesBlackMask = (model: string): boolean => model.endsWith("+black");

export const hasEnded = (job: Job): boolean => job.status !== "queued" && job.status !== "running";

export const delaySecondsOf = (job: Job): number => job.behaviour.delay ?? 0.3;

const progressOf = (job: Job): number => {
  if (job.status === "succeeded") return 1;
  if (job.status !== "running" || job.startedAt === null) return 0;
  const expected = (job.behaviour.never ? 60 : delaySecondsOf(job)) * 1000;
  const passed = (Date.now() - job.startedAt) / Math.max(expected, 1);
  return Math.min(0.99, Math.round(Math.min(passed, job.reportedProgress ?? 1) * 100) / 100);
};

export const visibleOutputs = (job: Job) => {
  const { outputs } = job.result;
  return job.behaviour.wrong_count ? outputs.slice(0, -1) : outputs;
};

const dataOf = (job: Job) => (job.behaviour.garbage && job.result.data ? { oops: true } : job.result.data);

export const renderJob = (job: Job, url: string) => ({
  id: job.id,
  status: job.status,
  progress: progressOf(job),
  outputs: visibleOutputs(job).map(({ extension, ...output }, index) => ({
    url: `${url}/v1/files/${job.id}/${index}.${extension}`,
    ...output,
  })),
  data: dataOf(job),
  error: job.error,
  created_at: job.created_at,
  finished_at: job.finished_at,
});
