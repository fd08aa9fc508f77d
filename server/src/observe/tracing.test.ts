// Tracing of one process, with a collector on a real socket.

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { startTraceCollector, type TraceCollector } from "../../test/support/trace-collector.ts";
import { Fault } from "../faults/faults.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createTracing } from "./create-tracing.ts";
import { createLogger } from "./log.ts";
import { traceHttp } from "./trace-dependencies.ts";
import { NO_TRACING, type Tracing, TracingEnv } from "./tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = `00-${TRACE}-b7ad6b7169203331-01`;
let collector: TraceCollector | undefined;
afterEach(() => collector?.close());

const ABOUT = { role: "api", version: "1.2.3", instance: "one" };
async function start(env: Record<string, string> = {}): Promise<Tracing> {
  collector = await startTraceCollector();
  return createTracing(TracingEnv.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }), ABOUT, systemClock);
}

it("is off without a collector, and leaves HTTP clients unchanged", async () => {
  const tracing = await createTracing(TracingEnv.parse({}), ABOUT, systemClock);
  expect(tracing).toBe(NO_TRACING);
  const http = { sendToProvider: async () => ({ status: 200 }), fetch: async () => ({}), open: async () => ({}) };
  expect(traceHttp(tracing, http)).toBe(http);
});

it("puts the ids of the trace into log lines, and only within it", async () => {
  const tracing = await start();
  const lines: string[] = [];
  const log = createLogger({ LOG_LEVEL: "info" }, "api", { write: (line) => lines.push(line) }, tracing.logFields);
  log.info({}, "outside");
  await tracing.inRequestSpan({ name: "GET", kind: "server" }, CALLER, async () => log.info({ run_id: "r" }, "inside"));
  await tracing.close();
  const [outside, inside] = lines.map((line) => JSON.parse(line));
  expect(outside).not.toHaveProperty("trace_id");
  expect(inside).toMatchObject({ trace_id: TRACE, span_id: collector!.spans[0]!.spanId, run_id: "r" });
});

it("records errors by their code, never by their message", async () => {
  const tracing = await start();
  const work = async () => {
    throw new Fault("provider_error", {}, { cause: new Error("a secret prompt") });
  };
  await expect(
    tracing.inRequestSpan({ name: "GET" }, CALLER, () => tracing.inSpan({ name: "step" }, work)),
  ).rejects.toThrow();
  await tracing.close();
  expect(collector!.spans.map(({ attributes }) => attributes["error.type"])).toEqual([
    "provider_error",
    "provider_error",
  ]);
  expect(JSON.stringify(collector!.spans)).not.toContain("secret");
});

it("follows the caller's decision, and samples other requests by the setting", async () => {
  const tracing = await start({ OTEL_TRACES_SAMPLER_ARG: "0" });
  const traceparentOf = (header: string | undefined) =>
    tracing.inRequestSpan({ name: "GET" }, header, async () => tracing.traceparent());
  expect(await traceparentOf(CALLER)).toMatch(new RegExp(`^00-${TRACE}-`));
  expect(await traceparentOf(CALLER.replace(/01$/, "00"))).toBeUndefined();
  expect(await traceparentOf(undefined)).toBeUndefined();
  expect(await traceparentOf("not a context")).toBeUndefined();
  await tracing.close();
  expect(collector!.spans).toHaveLength(1);
});

it("records a derived span under the id that its children had before", async () => {
  const tracing = await start();
  const begunAt = Date.now() - 5000;
  const own = tracing.deriveTraceparent(CALLER, "run#0")!;
  await tracing.inContext(own, () => tracing.inSpan({ name: "step" }, async () => undefined));
  tracing.recordDerived({ name: "process", start: begunAt, parent: CALLER }, "run#0");
  await tracing.close();
  const [step, invocation] = collector!.spans;
  expect([step!.parentId, invocation!.parentId]).toEqual([invocation!.spanId, "b7ad6b7169203331"]);
  expect(invocation!.startMs).toBe(begunAt);
});

it("ends a process that cannot reach its collector within seconds", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const clock = createManualClock();
  const tracing = await createTracing(TracingEnv.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), ABOUT, clock);
  await tracing.inRequestSpan({ name: "GET" }, CALLER, async () => undefined);
  let isClosed = false;
  const closed = tracing.close().then(() => {
    isClosed = true;
  });
  await clock.advance(2999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closed;
  silent.close();
});
