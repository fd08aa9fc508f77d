// Starts claimed runs in the engine. A traced run takes its trace along: the wait in the queue becomes a span, and the
// worker continues from the span of the request to the engine.
import type { Database } from "../db/connect.ts";
import type { DispatchedRun } from "../db/runs/queue.ts";
import { listRunTraces, type RunTrace } from "../db/runs/run-traces.ts";
import { describeQueueSpan } from "../runs/core/run-spans.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { EngineClient, RunInvocation } from "./engine-client.ts";
import { formatInvocationTrace, INVOCATION_TRACE_HEADER } from "./trace-invocation.ts";

type Dependencies = Pick<Runtime, "tracing" | "clock" | "log"> & { database: Database };

/** Returns the runs that the engine did not accept. */
export async function startRuns(
  services: Dependencies,
  engineClient: Pick<EngineClient, "startRun">,
  batch: DispatchedRun[],
): Promise<DispatchedRun[]> {
  const traces = services.tracing.isEnabled ? await findTraces(services, batch) : undefined;
  const results = await Promise.allSettled(
    batch.map((claim) => {
      const trace = traces?.get(claim.run_id);
      return trace ? startTracedRun(services, engineClient, claim, trace) : engineClient.startRun(toInvocation(claim));
    }),
  );
  return batch.filter((_, index) => results[index]!.status === "rejected");
}

const toInvocation = ({ run_id, tenant_id, epoch, plan }: DispatchedRun): RunInvocation => ({
  ...{ run_id, tenant_id, epoch },
  ...(plan && { plan }),
});

/** A run whose trace cannot be read starts without it. */
const findTraces = async ({ database, log }: Dependencies, batch: DispatchedRun[]): Promise<Map<string, RunTrace>> => {
  const ids = batch.map(({ run_id }) => run_id);
  const rows = await listRunTraces(database, ids).catch((thrown) => {
    log.warn({ err: thrown }, "reading the traces of runs failed");
    return [];
  });
  return new Map(rows.map((row) => [row.run_id, row]));
};

async function startTracedRun(
  { tracing, clock }: Dependencies,
  engineClient: Pick<EngineClient, "startRun">,
  claim: DispatchedRun,
  { traceparent, created_at }: RunTrace,
): Promise<void> {
  const now = clock.now();
  // Nothing says since when a requeued run has waited.
  const start = claim.epoch === 0 ? Math.min(created_at.getTime(), now) : now;
  const received = tracing.recordPast({ ...describeQueueSpan("receive", claim), start, parent: traceparent });
  const attributes = { "http.request.method": "POST", "url.template": "/Run/run/send" };
  await tracing.inContext(received, () =>
    tracing.inSpan({ name: "POST /Run/run/send", kind: "client", attributes }, () => {
      const parent = tracing.traceparent();
      if (!parent) return engineClient.startRun(toInvocation(claim));
      // Restate reads `traceparent`, for spans of its own.
      const headers = { traceparent: parent, [INVOCATION_TRACE_HEADER]: formatInvocationTrace(parent, now) };
      return engineClient.startRun(toInvocation(claim), headers);
    }),
  );
}
