// The span of one invocation of a run, and those of its steps. Workers may die and others continue the invocation, so
// the id of its span follows from the run and its epoch: steps of every worker are its children, and the worker that
// ends the invocation records it. Replayed steps are not executed, so they have no second span.
import type { RunClaim } from "../db/run-claims.ts";
import type { Tracing } from "../observe/tracing.ts";
import { describeQueueSpan } from "../runs/core/run-spans.ts";

/** The engine stores the headers of an invocation, so a worker that continues it reads the same. */
export const INVOCATION_TRACE_HEADER = "x-gesso-trace";

/** `startedAt` in milliseconds. */
export const formatInvocationTrace = (traceparent: string, startedAt: number): string => `${traceparent};${startedAt}`;

export type TraceStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const withoutTrace: TraceStep = (_name, work) => work();

export async function traceInvocation(
  tracing: Tracing,
  claim: RunClaim,
  header: string | undefined,
  execute: (traceStep: TraceStep) => Promise<void>,
): Promise<void> {
  const [parent = "", startedAt] = header?.split(";") ?? [];
  const invocation = `${claim.run_id}#${claim.epoch}`;
  const own = tracing.deriveTraceparent(parent, invocation);
  if (own === undefined) return execute(withoutTrace);
  const attributes = { "gesso.run.id": claim.run_id };
  await execute((name, work) =>
    tracing.inContext(own, () =>
      tracing.inSpan({ name: toSpanName(name), attributes: { ...attributes, "gesso.step": name } }, work),
    ),
  );
  tracing.recordDerived({ ...describeQueueSpan("process", claim), start: Number(startedAt), parent }, invocation);
}

/** `0.submit.1` becomes `step submit`: names of spans have few values. */
const toSpanName = (step: string) =>
  `step ${step
    .split(".")
    .filter((part) => !/^\d+$/.test(part))
    .join(" ")}`;
