// The context of a trace as text, as in the header `traceparent` of W3C Trace Context: the id of the trace, the id of a
// span, and whether the trace is recorded.
import { createHash } from "node:crypto";

/** Ids in hexadecimal: 32 digits of the trace, 16 of the span. */
export type TraceContext = { traceId: string; spanId: string; isSampled: boolean };

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.{0,400})?$/;

/** Undefined for a text that is no context. A client may send anything. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const match = text === undefined ? null : TRACEPARENT.exec(text);
  if (!match) return undefined;
  const [, traceId, spanId, flags] = match as unknown as [string, string, string, string];
  // An id of zeros is invalid by the standard.
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/**
 * The context of a span whose id follows from a name. Every process that works on the same invocation finds the same
 * id, so the spans of a worker that died have the parent that its successor records.
 */
export const deriveContext = (parent: TraceContext, name: string): TraceContext => ({
  ...parent,
  spanId: createHash("sha256").update(`${parent.traceId} ${name}`).digest("hex").slice(0, 16),
});
