// What a kind of work must say about itself. A new one is a file beside this one and a line in the list.
import type { JobRequest, StoredRequest } from "../request.ts";
import type { Encoder } from "../video/encoder.ts";

export type Box = { x: number; y: number; width: number; height: number };

export type TaskOutput = {
  media_type: string;
  extension: string;
  width: number;
  height: number;
  name?: string;
  score?: number;
  box?: Box;
  duration?: number;
  fps?: number;
};

/** What a job gives: files, and `data` for what is not a file. */
export type TaskResult = { outputs: TaskOutput[]; data: Record<string, unknown> | null };

type TaskInput = {
  request: StoredRequest;
  seed: number;
  /** The images of the request, then its mask if it has one. */
  inputs(): Promise<Buffer[]>;
  /** Where this job may keep a file that is too dear to be made twice. */
  file: string;
};

/** What a task works with while the job runs. */
export type TaskRun = TaskInput & {
  signal: AbortSignal;
  /** Says how far the work is, from 0 to 1; a task that is quick says nothing. */
  report(share: number): void;
  encoder: Encoder;
};

export type OutputRequest = TaskInput & {
  /** Which of the outputs of one request, from 0. */
  index: number;
};

export type Task = {
  name: string;
  /** What is wrong with the request, or nothing. */
  validate(request: JobRequest): string | undefined;
  /** Runs while the job runs: what the job will give, or why it gives nothing. */
  find(work: TaskRun): Promise<TaskResult | { error: { code: string; message: string } }>;
  /** Makes one output when it is fetched. Pure in its order: the same order gives the same bytes. */
  renderOutput(order: OutputRequest): Promise<Buffer>;
};
