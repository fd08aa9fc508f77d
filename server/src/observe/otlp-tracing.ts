// Records spans with OpenTelemetry's SDK and exports them by OTLP in batches. The queue of spans is bounded: while the
// collector does not respond, spans are dropped, and requests and runs go on.
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Clock } from "../runtime/clock.ts";
import { deriveContext, formatTraceparent, parseTraceparent, type TraceContext } from "./traceparent.ts";
import type { OpenSpan, PastSpan, SpanAttributes, SpanDescription, TracedProcess, Tracing } from "./tracing.ts";

const EXPORT_INTERVAL_MS = 1000;
/** A stopping process waits this long for the collector. */
const CLOSE_MS = 3000;

type Settings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_EXPORTER_OTLP_HEADERS: Record<string, string>;
  OTEL_SERVICE_NAME: string;
  OTEL_TRACES_SAMPLER_ARG: number;
};

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

function createProvider(
  settings: Settings,
  { role, version, instance }: TracedProcess,
  idGenerator: IdGenerator,
): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${settings.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, "")}/v1/traces`,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS,
  });
  return new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": settings.OTEL_SERVICE_NAME,
      "service.version": version,
      "service.instance.id": instance,
      "gesso.role": role,
    }),
    idGenerator,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: EXPORT_INTERVAL_MS })],
  });
}

export function createOtlpTracing(settings: Settings, about: TracedProcess, clock: Pick<Clock, "after">): Tracing {
  const ids = createIds();
  const provider = createProvider(settings, about, ids.generator);
  const tracer = provider.getTracer("gesso", about.version);
  const active = new AsyncLocalStorage<Context>();

  const start = ({ name, kind = "internal", attributes }: SpanDescription, parent: Context, startTime?: number) =>
    tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        ...(attributes && { attributes: withoutUndefined(attributes) }),
        ...(startTime !== undefined && { startTime }),
      },
      parent,
    );
  const runIn = async <T>(span: Span, parent: Context, work: (span: OpenSpan) => Promise<T>): Promise<T> => {
    try {
      return await active.run(trace.setSpan(parent, span), () => work(toOpenSpan(span)));
    } catch (thrown) {
      span.setAttributes({ "error.type": errorType(thrown) });
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw thrown;
    } finally {
      span.end();
    }
  };
  const record = ({ start: startedAt, parent, ...span }: PastSpan): string | undefined => {
    const context = parseTraceparent(parent);
    if (!context?.isSampled) return undefined;
    const recorded = start(span, toRemoteContext(context), startedAt);
    recorded.end();
    return toTraceparent(recorded);
  };

  return {
    isEnabled: true,
    inRequestSpan(span, traceparent, work) {
      const parent = toRemoteContext(parseTraceparent(traceparent));
      return runIn(start(span, parent), parent, work);
    },
    inSpan(span, work) {
      const parent = active.getStore();
      if (!parent || !isRecorded(parent)) return work(NOT_RECORDED);
      return runIn(start(span, parent), parent, work);
    },
    inContext(traceparent, work) {
      const context = parseTraceparent(traceparent);
      return context ? active.run(toRemoteContext(context), work) : work();
    },
    traceparent() {
      const span = trace.getSpan(active.getStore() ?? ROOT_CONTEXT);
      return span && toTraceparent(span);
    },
    recordPast: record,
    deriveTraceparent(parent, invocation) {
      const context = parseTraceparent(parent);
      return context?.isSampled ? formatTraceparent(deriveContext(context, invocation)) : undefined;
    },
    recordDerived(span, invocation) {
      const context = parseTraceparent(span.parent);
      if (context) ids.withSpanId(deriveContext(context, invocation).spanId, () => record(span));
    },
    logFields() {
      const context = trace.getSpanContext(active.getStore() ?? ROOT_CONTEXT);
      return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
    },
    async close() {
      const closed = provider.shutdown().catch(() => {});
      await Promise.race([closed, new Promise<void>((resolve) => clock.after(CLOSE_MS, resolve).unref())]);
    },
  };
}

/** Random ids, except while `withSpanId` runs. Spans are started synchronously, so no other span gets that id. */
function createIds() {
  const random = new RandomIdGenerator();
  let spanId: string | undefined;
  const generator: IdGenerator = {
    generateTraceId: () => random.generateTraceId(),
    generateSpanId: () => spanId ?? random.generateSpanId(),
  };
  return {
    generator,
    withSpanId(id: string, work: () => void) {
      spanId = id;
      try {
        work();
      } finally {
        spanId = undefined;
      }
    },
  };
}

const NOT_RECORDED: OpenSpan = { setAttributes: () => {}, rename: () => {}, fail: () => {} };

const toOpenSpan = (span: Span): OpenSpan => ({
  setAttributes: (attributes) => void span.setAttributes(withoutUndefined(attributes)),
  rename: (name) => void span.updateName(name),
  fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
});

const isRecorded = (context: Context) =>
  ((trace.getSpanContext(context)?.traceFlags ?? 0) & TraceFlags.SAMPLED) === TraceFlags.SAMPLED;

const toRemoteContext = (context: TraceContext | undefined): Context =>
  context === undefined
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, {
        traceId: context.traceId,
        spanId: context.spanId,
        traceFlags: context.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
        isRemote: true,
      });

const toTraceparent = (span: Span): string | undefined => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) === TraceFlags.SAMPLED;
  return isSampled ? formatTraceparent({ traceId, spanId, isSampled }) : undefined;
};

const withoutUndefined = (attributes: SpanAttributes) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number | boolean
  >;

/** A code of the catalogue or the name of the error's class. Messages may quote prompts. */
function errorType(thrown: unknown): string {
  const { code, name } = (thrown ?? {}) as { code?: unknown; name?: unknown };
  const text = typeof code === "string" ? code : String(name);
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(text) ? text : "_OTHER";
}
