// Reads and cancels a job on one server. Current servers look up a job by ID. For older ones, first the queue and then
// the history is read, because a job moves from the queue to the history.
import { z } from "zod";
import { readProviderFailure } from "../call-provider.ts";
import type { JobCancellation } from "../provider.ts";
import { type ComfyuiContext, ComfyuiQueue, callComfyui } from "./pool.ts";

const ComfyuiFile = z.object({ filename: z.string(), subfolder: z.string().default(""), type: z.string() });
export type ComfyuiFile = z.output<typeof ComfyuiFile>;
const Outputs = z.record(z.string(), z.record(z.string(), z.unknown()));

const ExecutionError = z.object({
  node_type: z.string().nullish(),
  exception_type: z.string().nullish(),
  exception_message: z.string().nullish(),
});
export type ExecutionError = z.output<typeof ExecutionError>;

const ExecutionStatus = z
  .object({ status_str: z.string(), messages: z.array(z.tuple([z.string(), z.unknown()], z.unknown())) })
  .nullish();
const Job = z.object({
  status: z.enum(["pending", "in_progress", "completed", "failed", "cancelled"]),
  outputs: Outputs.nullish(),
  execution_error: ExecutionError.nullish(),
  execution_status: ExecutionStatus,
});
const Done = z.object({ outputs: Outputs, status: ExecutionStatus });
const History = z.record(z.string(), Done);

export type ComfyuiJobState =
  | { state: "running" }
  | { state: "done"; files: ComfyuiFile[] }
  | { state: "failed"; error: ExecutionError }
  | { state: "canceled" };

/** Returns undefined if the server does not know the job. Throws if the server does not respond. */
export async function readJobState(
  context: ComfyuiContext,
  server: string,
  id: string,
): Promise<ComfyuiJobState | undefined> {
  try {
    return toJobState(await callComfyui(context, server, { path: `/api/jobs/${id}`, reply: Job }));
  } catch (thrown) {
    const { status, cause } = readProviderFailure(thrown);
    if (status !== 404) throw thrown;
    return String(cause).includes("Job not found") ? undefined : readLegacyJobState(context, server, id);
  }
}

/** The data of an event in the history of a job. */
const eventData = (status: z.output<typeof ExecutionStatus>, event: string): unknown =>
  status?.messages.find(([name]) => name === event)?.[1];

function toJobState({ status, outputs, execution_error, execution_status }: z.output<typeof Job>): ComfyuiJobState {
  if (status === "completed") return { state: "done", files: filesOf(outputs ?? {}) };
  // Servers before the status `cancelled` report an interrupted job as failed, without an error.
  if (eventData(execution_status, "execution_interrupted") !== undefined) return { state: "canceled" };
  if (status === "failed") return { state: "failed", error: execution_error ?? {} };
  return { state: status === "cancelled" ? "canceled" : "running" };
}

async function readLegacyJobState(
  context: ComfyuiContext,
  server: string,
  id: string,
): Promise<ComfyuiJobState | undefined> {
  const queued = await findInQueue(context, server, id);
  if (queued) return { state: "running" };
  const done = (await callComfyui(context, server, { path: `/history/${id}`, reply: History }))[id];
  if (!done) return undefined;
  if (done.status?.status_str !== "error") return { state: "done", files: filesOf(done.outputs) };
  if (eventData(done.status, "execution_interrupted") !== undefined) return { state: "canceled" };
  return { state: "failed", error: ExecutionError.safeParse(eventData(done.status, "execution_error")).data ?? {} };
}

async function findInQueue(context: ComfyuiContext, server: string, id: string) {
  const { queue_running, queue_pending } = await callComfyui(context, server, { path: "/queue", reply: ComfyuiQueue });
  if (queue_running.some((entry) => entry[1] === id)) return "running";
  return queue_pending.some((entry) => entry[1] === id) ? "pending" : undefined;
}

/** Only saved results; outputs also contain previews, with another type. */
const filesOf = (outputs: z.output<typeof Outputs>): ComfyuiFile[] =>
  Object.values(outputs).flatMap((kinds) =>
    Object.values(kinds).flatMap((items) =>
      (Array.isArray(items) ? items : [])
        .flatMap((item) => ComfyuiFile.safeParse(item).data ?? [])
        .filter(({ type }) => type === "output"),
    ),
  );

export async function cancelJob(context: ComfyuiContext, server: string, id: string): Promise<JobCancellation> {
  // A job that has not started has cost nothing.
  const isUncharged = (await findInQueue(context, server, id).catch(() => undefined)) === "pending";
  try {
    await callComfyui(context, server, { method: "POST", path: `/api/jobs/${id}/cancel`, reply: z.unknown() });
  } catch (thrown) {
    if (![404, 405].includes(readProviderFailure(thrown).status ?? 0)) throw thrown;
    await stopByQueue(context, server, id);
  }
  return { isUncharged };
}

async function stopByQueue(context: ComfyuiContext, server: string, id: string): Promise<void> {
  const queueEntry = await findInQueue(context, server, id);
  if (queueEntry === "pending")
    await callComfyui(context, server, { path: "/queue", body: { delete: [id] }, reply: z.unknown() });
  // The oldest servers interrupt any running job, so this is sent only while our job runs.
  if (queueEntry === "running")
    await callComfyui(context, server, { path: "/interrupt", body: { prompt_id: id }, reply: z.unknown() });
}
