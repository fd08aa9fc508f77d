// Traces of requests and runs: the settings, and what other modules use. Without OTEL_EXPORTER_OTLP_ENDPOINT nothing is
// recorded, and every function here only calls the work that it is given.
import { z } from "zod";

export const TracingEnv = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe("URL of an OpenTelemetry collector that receives traces by OTLP over HTTP. Default: no traces"),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .default("")
    .transform(parsePairs)
    .describe("Headers of requests to the collector: name=value, comma-separated, values in percent-encoding"),
  OTEL_SERVICE_NAME: z.string().default("gesso").describe("Name of this installation in traces"),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("Share of requests that are traced, from 0 to 1. A request with a traceparent follows its caller"),
});

function parsePairs(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const separator = pair.indexOf("=");
      return [pair.slice(0, separator).trim(), decodeURIComponent(pair.slice(separator + 1).trim())];
    }),
  );
}

export type SpanAttributes = Record<string, string | number | boolean | undefined>;
/** Names and attributes follow the semantic conventions of OpenTelemetry; own attributes begin with `gesso.`. */
export type SpanDescription = {
  name: string;
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  attributes?: SpanAttributes;
};
/** What is learned while the span is open. */
export type OpenSpan = { setAttributes(attributes: SpanAttributes): void; rename(name: string): void; fail(): void };

/** A span of which all is known when it is recorded. `start` in milliseconds; the end is now. */
export type PastSpan = SpanDescription & { start: number; parent: string };

export type Tracing = {
  isEnabled: boolean;
  /** Runs `work` in a span of the caller's trace, or of a new one if `traceparent` is not a context. */
  inRequestSpan<T>(
    span: SpanDescription,
    traceparent: string | undefined,
    work: (span: OpenSpan) => Promise<T>,
  ): Promise<T>;
  /** Runs `work` in a child of the active span. Without one, nothing is recorded. */
  inSpan<T>(span: SpanDescription, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Runs `work` with the span that `traceparent` names as the active one. */
  inContext<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
  /** The active span, if it is recorded. */
  traceparent(): string | undefined;
  /** Records a span that began earlier, and returns its traceparent. */
  recordPast(span: PastSpan): string | undefined;
  /** The traceparent of the span that `recordDerived` records under the same parent and name of the invocation. */
  deriveTraceparent(parent: string, invocation: string): string | undefined;
  /** Like `recordPast`, with an id that follows from the parent and the name of the invocation. */
  recordDerived(span: PastSpan, invocation: string): void;
  /** Fields of log lines that are written while a span is active. */
  logFields(): { trace_id?: string; span_id?: string };
  /** Exports what is left. */
  close(): Promise<void>;
};

const NO_SPAN: OpenSpan = { setAttributes: () => {}, rename: () => {}, fail: () => {} };

export const NO_TRACING: Tracing = {
  isEnabled: false,
  inRequestSpan: (_span, _traceparent, work) => work(NO_SPAN),
  inSpan: (_span, work) => work(NO_SPAN),
  inContext: (_traceparent, work) => work(),
  traceparent: () => undefined,
  recordPast: () => undefined,
  deriveTraceparent: () => undefined,
  recordDerived: () => {},
  logFields: () => ({}),
  close: async () => {},
};

export type TracedProcess = { role: string; version: string; instance: string };
