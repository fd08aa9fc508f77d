// Traces of a running Gesso, as a collector receives them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { type CollectedSpan, startTraceCollector, type TraceCollector } from "../support/trace-collector.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

const CALLER_SPAN = "b7ad6b7169203331";
let collector: TraceCollector;
let receiver: WebhookReceiver;
let environment: TestEnvironment;

beforeAll(async () => {
  [collector, receiver] = [await startTraceCollector(), await startWebhookReceiver()];
  environment = await startTestEnvironment({
    roles: "split",
    env: {
      ...webhookEnv(receiver),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20team",
      // Only what a caller asks for is traced.
      OTEL_TRACES_SAMPLER_ARG: "0",
    },
  });
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
  await collector?.close();
});

/** Generates an image as a part of the given trace. Returns the id of the run. */
async function generate(prompt: string, traceId?: string, flags = "01"): Promise<string> {
  const traceparent = traceId && `00-${traceId}-${CALLER_SPAN}-${flags}`;
  const { body } = await createHttpCaller(environment).generate(
    { prompt, width: 64, height: 64, webhook_url: `${receiver.url}/hook` },
    { ...(traceparent && { traceparent }) },
  );
  return body.run_id as string;
}

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const waitForSpan = (traceId: string, name: string) =>
  expect.poll(() => spansOf(traceId).map((span) => span.name)).toContainEqual(expect.stringContaining(name));

/** Every span with its parents up to the caller's. Throws if a parent was not collected. */
function pathOf(span: CollectedSpan): string[] {
  if (span.parentId === CALLER_SPAN) return [span.name];
  const parent = spansOf(span.traceId).find(({ spanId }) => spanId === span.parentId);
  if (!parent) throw new Error(`the parent of ${span.name} is missing`);
  return [...pathOf(parent), span.name];
}

describe("a traced run", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";

  it("is one trace from the caller to the provider, the storage and the webhook", async () => {
    const runId = await generate("a harbour", traceId);
    const [message] = await receiver.got(1, ({ event }) => event.data.run_id === runId, 60);
    for (const name of ["process gesso.runs", "process gesso.webhooks"]) await waitForSpan(traceId, name);

    const spans = spansOf(traceId);
    const paths = spans.map((span) => pathOf(span).join(" > "));
    const accepted = "POST /api/v1/runs/generate > send gesso.runs";
    const invocation = `${accepted} > receive gesso.runs > POST /Run/run/send > process gesso.runs`;
    expect(paths).toEqual(
      expect.arrayContaining([
        "POST /api/v1/runs/generate",
        accepted,
        `${accepted} > receive gesso.runs`,
        `${accepted} > receive gesso.runs > POST /Run/run/send`,
        invocation,
        `${invocation} > step start`,
        `${invocation} > step start > submit sandbox`,
        `${invocation} > step start > submit sandbox > POST`,
        `${invocation} > step collect`,
        `${invocation} > step collect > storage put`,
        `${accepted} > process gesso.webhooks`,
        `${accepted} > process gesso.webhooks > POST`,
      ]),
    );
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(new Set(spans.map(({ resource }) => resource["gesso.role"]))).toEqual(new Set(["api", "worker"]));
    expect(new Set(spans.filter(({ name }) => name === "POST").map(({ kind }) => kind))).toEqual(new Set([3]));
    // The receiver continues the trace.
    expect(message!.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    expect(collector.headers).toContain("a team");
  });

  it("has spans without prompts and without URLs", () => {
    const text = JSON.stringify(collector.spans);
    expect(text).not.toMatch(/harbour|\/hook|callbacks\/sandbox/);
    expect(text).toContain("gesso.run.id");
  });

  it("stays one trace when its worker is killed and another one continues", async () => {
    const killed = "1bf7651916cd43dd8448eb211c80319d";
    const runId = await generate("[sandbox:delay=6,no_callback] a long wait", killed);
    // Ends after the spans inside it.
    await waitForSpan(killed, "step start");
    await environment.killAndRestart("worker");
    await receiver.got(1, ({ event }) => event.data.run_id === runId, 120);
    for (const name of ["process gesso.runs", "process gesso.webhooks"]) await waitForSpan(killed, name);

    const spans = spansOf(killed);
    for (const span of spans) expect(pathOf(span)[0]).toBe("POST /api/v1/runs/generate");
    const workers = new Set(
      spans.filter(({ name }) => name.startsWith("step ")).map(({ resource }) => resource["service.instance.id"]),
    );
    expect(workers.size).toBe(2);
    expect(spans.filter(({ name }) => name === "submit sandbox")).toHaveLength(1);
    expect(spans.filter(({ name }) => name === "process gesso.runs")).toHaveLength(1);
  });
});

describe("a run without a trace", () => {
  it("has no span and keeps no context", async () => {
    const unsampled = "2cf7651916cd43dd8448eb211c80319e";
    const ids = [await generate("plain"), await generate("unsampled", unsampled, "00")];
    for (const id of ids) await receiver.got(1, ({ event }) => event.data.run_id === id, 60);
    const rows = await environment.query("select traceparent from runs where run_id = any($1::uuid[])", [ids]);
    expect(rows).toEqual([{ traceparent: null }, { traceparent: null }]);
    const runs = collector.spans.map(({ attributes }) => attributes["gesso.run.id"]);
    for (const id of ids) expect(runs).not.toContain(id);
  });
});
