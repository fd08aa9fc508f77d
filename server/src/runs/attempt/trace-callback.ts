// Makes a callback of a provider a part of the trace of its run: a provider knows nothing of that trace.

import { listRunTraces } from "../../db/runs/run-traces.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import type { CallbackTarget } from "./provider-callback.ts";

/** A callback whose trace cannot be read is handled without it. */
export async function traceCallback<T>(
  { database, tracing }: Pick<AttemptDependencies, "database" | "tracing">,
  { provider, run_id, request_index, attempt_number }: CallbackTarget,
  handle: () => Promise<T>,
): Promise<T> {
  if (!tracing.isEnabled) return handle();
  const [trace] = await listRunTraces(database, [run_id]).catch(() => []);
  const attributes = {
    "http.request.method": "POST",
    "http.route": "/callbacks/:provider",
    "gesso.run.id": run_id,
    "gesso.provider": provider,
    "gesso.request.index": request_index,
    "gesso.attempt": attempt_number,
  };
  return tracing.inContext(trace?.traceparent, () =>
    tracing.inSpan({ name: "POST /callbacks/:provider", kind: "server", attributes }, handle),
  );
}
