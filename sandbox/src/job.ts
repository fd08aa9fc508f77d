// A job: what was asked, how it stands, and how it is shown to the one who asked.
import type { Behaviour } from "./behaviour.ts";
import type { KeptRequest } from "./request.ts";
import type { Findings } from "./tasks/task.ts";

export type Ending = "succeeded" | "failed" | "refused" | "canceled";
type Status = "queued" | "running" | Ending;
export type JobError = { code: string; message: string };

export type Job = {
  id: string;
  request: KeptRequest;
  behaviour: Behaviour;
  seed: number;
  idempotency_key: string | null;
  status: Status;
  error: JobError | null;
  /** What the job gives, once it has succeeded. */
  findings: Findings;
  created_at: string;
  finished_at: string | null;
  canceled_at: string | null;
  posts: number;
  delivered: number;
  callback_attempts: number;
  callback_taken: boolean;
  answer_lost: boolean;
  /** When this process began to run it, in milliseconds; a restart begins anew. */
  startedAt: number | null;
  /** How far its work is by its own account, for tasks that say so. */
  reported: number | null;
};

/** How a lost answer can be recovered: by posting again (A), by looking the reference up (B), or not at all (C). */
export type VendorClass = "replay" | "find" | "blind";

export const classOf = (model: string): VendorClass => {
  if (model.startsWith("find/")) return "find";
  return model.startsWith("blind/") ? "blind" : "replay";
};

/** Vendors do not agree on masks: to models of this kind black is what changes. */
export const changesBlack = (model: string): boolean => model.endsWith("+black");

export const hasEnded = (job: Job): boolean => job.status !== "queued" && job.status !== "running";

export const delaySecondsOf = (job: Job): number => job.behaviour.delay ?? 0.3;

const progressOf = (job: Job): number => {
  if (job.status === "succeeded") return 1;
  if (job.status !== "running" || job.startedAt === null) return 0;
  const expected = (job.behaviour.never ? 60 : delaySecondsOf(job)) * 1000;
  const passed = (Date.now() - job.startedAt) / Math.max(expected, 1);
  return Math.min(0.99, Math.round(Math.min(passed, job.reported ?? 1) * 100) / 100);
};

export const outputsOf = (job: Job) => {
  const { outputs } = job.findings;
  return job.behaviour.wrong_count ? outputs.slice(0, -1) : outputs;
};

const dataOf = (job: Job) => (job.behaviour.garbage && job.findings.data ? { oops: true } : job.findings.data);

export const showJob = (job: Job, url: string) => ({
  id: job.id,
  status: job.status,
  progress: progressOf(job),
  outputs: outputsOf(job).map(({ extension, ...output }, index) => ({
    url: `${url}/v1/files/${job.id}/${index}.${extension}`,
    ...output,
  })),
  data: dataOf(job),
  error: job.error,
  created_at: job.created_at,
  finished_at: job.finished_at,
});
