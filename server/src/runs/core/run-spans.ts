// The spans of the queue of runs, named as OpenTelemetry names those of messages: the API sends a run, the dispatcher
// receives it, and a worker processes it. A submission is named by its provider.
import type { SpanDescription } from "../../observe/tracing.ts";
import type { ResolvedRequest } from "../steps.ts";

const KINDS = { send: "producer", receive: "consumer", process: "consumer" } as const;

export const describeQueueSpan = (
  operation: keyof typeof KINDS,
  run: { run_id: string; tenant_id: string; lane?: string; epoch?: number; operation?: string },
): SpanDescription => ({
  name: `${operation} gesso.runs`,
  kind: KINDS[operation],
  attributes: {
    "messaging.system": "gesso",
    "messaging.destination.name": "gesso.runs",
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
    "messaging.message.id": run.run_id,
    "gesso.run.id": run.run_id,
    "gesso.tenant.id": run.tenant_id,
    "gesso.run.epoch": run.epoch,
    "gesso.operation": run.operation,
    "gesso.provider": run.lane,
  },
});

export const describeSubmission = ({
  requestIndex,
  job,
  offer,
}: Pick<ResolvedRequest, "requestIndex" | "job" | "offer">): SpanDescription => ({
  name: `submit ${offer.provider}`,
  attributes: {
    "gen_ai.provider.name": offer.provider,
    "gen_ai.request.model": job.model,
    "gesso.task": job.task,
    "gesso.request.index": requestIndex,
  },
});
