// Live events: of a run, of all runs of a tenant, and instead of the response to a request that creates a run.
import { describe, expect } from "vitest";
import { openSseReader, type SseReader, type StreamTarget } from "../events/sse-reader.ts";
import { drawScene } from "../support/scene.ts";
import { createTestTenant } from "../support/tenants.ts";
import { it } from "./http-and-client.ts";
import { runRequests, statusAndCode, UNKNOWN_ID } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SMALL = { width: 64, height: 64 };
const END = /^run\.(completed|failed|canceled)$/;

const generate = async (prompt: string): Promise<string> =>
  (await suite.caller.generate({ prompt, ...SMALL })).body.run_id;
const read = (path: string, where: Partial<StreamTarget> = {}): Promise<SseReader> =>
  openSseReader({ url: suite.environment.url, key: suite.environment.key, path, ...where });
const types = ({ heard: received }: SseReader) => received.map(({ type }) => type);
const ids = ({ heard: received }: SseReader) => received.map(({ id }) => id);

describe("the stream of a run's events", () => {
  it.each([
    ["run.completed", "[sandbox:delay=1] x"],
    ["run.failed", "[sandbox:fail] x"],
    ["run.canceled", "[sandbox:never] x"],
  ])("[EVT-019] tells each change of its status, %s last", async (end, prompt) => {
    const runId = await generate(prompt);
    const reader = await read(`/runs/${runId}/events`);
    expect(reader.response.headers["content-type"]).toMatch(/^text\/event-stream\b/);
    await reader.until(({ type }) => type === "run.processing");
    if (end === "run.canceled") await suite.caller.post(`/runs/${runId}/cancel`);
    expect(await reader.ended).toBe("ended");
    expect(types(reader).filter((type) => type !== "run.progress")).toEqual(["run.queued", "run.processing", end]);
    expect(types(reader).at(-1)).toBe(end);
    expect(new Set(ids(reader).filter(Boolean)).size).toBe(reader.heard.length);
    const { data } = reader.heard.at(-1)!.event;
    const { body: run } = await suite.caller.get(`/runs/${runId}`);
    const shown = Object.keys(data).filter((field) => field !== "updated_at");
    expect(shown.map((field) => [field, data[field]])).toEqual(shown.map((field) => [field, run[field]]));
  });

  it("[EVT-020] resumes after the last ID, without duplicates or gaps", async () => {
    const runId = await generate("[sandbox:delay=2] x");
    const first = await read(`/runs/${runId}/events`);
    const { id } = await first.until(({ type }) => type === "run.processing");
    first.cut();
    const second = await read(`/runs/${runId}/events`, { lastEventId: id });
    expect(await second.ended).toBe("ended");
    const whole = await read(`/runs/${runId}/events`);
    await whole.ended;
    const known = ids(whole).indexOf(id);
    expect(ids(second)).toEqual(ids(whole).slice(known + 1));
    for (const [index, each] of ids(whole).entries()) {
      const rest = await read(`/runs/${runId}/events`, { lastEventId: each });
      await rest.ended;
      expect(rest.heard.map(({ event }) => event)).toEqual(whole.heard.slice(index + 1).map(({ event }) => event));
    }
  });

  it("[EVT-021] of a tenant contains all its runs and no others", async () => {
    const [mine, theirs] = [await createTestTenant(suite.environment), await createTestTenant(suite.environment)];
    const [ours, foreign] = [await read("/events", { key: mine.key }), await read("/events", { key: theirs.key })];
    expect(ours.response.headers["content-type"]).toMatch(/^text\/event-stream\b/);
    const start = async ({ caller }: typeof mine) =>
      (await caller.generate({ prompt: "[sandbox:delay=0] x", ...SMALL })).body.run_id;
    const runs = [await start(mine), await start(mine)];
    const other = await start(theirs);
    const ended = (reader: SseReader, runId: string) =>
      reader.until(({ type, event }) => END.test(type) && event.data.run_id === runId, 20_000);
    for (const runId of runs) await ended(ours, runId);
    await ended(foreign, other);
    expect(new Set(ours.heard.map(({ event }) => event.data.run_id))).toEqual(new Set(runs));
    expect(new Set(foreign.heard.map(({ event }) => event.data.run_id))).toEqual(new Set([other]));
    for (const reader of [ours, foreign]) reader.cut();
  });

  it("[RUN-033] of another's run and of none is refused alike, as every read of a run is", async () => {
    const otherTenant = await createTestTenant(suite.environment);
    const { body } = await otherTenant.caller.generate({ prompt: "[sandbox:delay=0] x", ...SMALL });
    const requests = [
      (id: string) => suite.caller.get(`/runs/${id}`),
      (id: string) => suite.caller.post(`/runs/${id}/cancel`),
      (id: string) => suite.caller.delete(`/runs/${id}`),
      (id: string) => suite.caller.get(`/runs/${id}/layers`),
      (id: string) => suite.caller.get(`/runs/${id}/tree`),
      (id: string) => suite.caller.get(`/runs/${id}/events`),
    ];
    for (const ask of requests) {
      const [theirs, nobodys] = [await ask(body.run_id), await ask(UNKNOWN_ID)];
      expect(statusAndCode(theirs)).toEqual([404, "run_not_found"]);
      const plain = (response: typeof theirs) =>
        response.bytes.toString().replaceAll(response.body.details.request_id, "").replaceAll(body.run_id, UNKNOWN_ID);
      expect(plain(theirs)).toBe(plain(nobodys));
    }
  });
});

describe("a request that makes a run, and wants its events", () => {
  it("[GNL-044] gets them as its response, up to the end of the run", async () => {
    const source = await suite.uploadImage();
    const requests = (await runRequests(source)).filter(({ bodies }) => bodies.includes("json"));
    expect(requests.length).toBeGreaterThan(10);
    for (const { name, path, fields } of requests) {
      const reader = await read(path, { method: "POST", body: { ...fields } });
      expect([name, reader.response.statusCode]).toEqual([name, 200]);
      expect(reader.response.headers["content-type"]).toMatch(/^text\/event-stream\b/);
      expect(await reader.ended).toBe("ended");
      const { event, type } = reader.heard.at(-1)!;
      expect([name, type, event.data.run_id]).toEqual([name, "run.completed", reader.response.headers["x-run-id"]]);
      expect(types(reader)[0]).toBe("run.queued");
    }
    const upload = suite.form({ file: await drawScene() });
    const response = await suite.caller.post("/upload", upload, { accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    expect(response.body.match(/^event: .*$/gm)).toEqual(["event: run.completed"]);
  });

  it("[GNL-032] with a used key gets the existing run, and creates no other", async () => {
    const headers = { "idempotency-key": `events-${Date.now()}` };
    const body = { prompt: "[sandbox:delay=1] x", ...SMALL, metadata: { tag: headers["idempotency-key"] } };
    const { body: first } = await suite.caller.generate(body, headers);
    for (let time = 0; time < 2; time++) {
      const reader = await read("/runs/generate", { method: "POST", body, headers });
      expect(await reader.ended).toBe("ended");
      expect(reader.response.headers["idempotent-replayed"]).toBe("true");
      expect(new Set(reader.heard.map(({ event }) => event.data.run_id))).toEqual(new Set([first.run_id]));
      expect(types(reader).at(-1)).toBe("run.completed");
    }
    const [{ n }] = (await suite.environment.query(
      "select count(*)::int as n from runs where metadata ->> 'tag' = $1",
      [headers["idempotency-key"]],
    )) as [{ n: number }];
    expect(n).toBe(1);
  });
});
