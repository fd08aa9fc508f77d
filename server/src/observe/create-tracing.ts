// Creates the tracing of a process. The library is loaded only by processes that export traces.
import type { z } from "zod";
import type { Clock } from "../runtime/clock.ts";
import { NO_TRACING, type TracedProcess, type Tracing, type TracingEnv } from "./tracing.ts";

export async function createTracing(
  settings: z.output<typeof TracingEnv>,
  about: TracedProcess,
  clock: Pick<Clock, "after">,
): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings;
  if (endpoint === undefined) return NO_TRACING;
  const { createOtlpTracing } = await import("./otlp-tracing.ts");
  return createOtlpTracing({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, about, clock);
}
