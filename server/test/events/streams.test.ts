// Streams of events on a socket: what has been, what comes, and going on after a loss.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatPosition } from "../../src/db/event-log.ts";
import { startTestApi, type TestApi } from "../access/isolation.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { createSimulatedRun, type SimulatedRun } from "./simulated-runs.ts";
import { openSseReader, type SseReader, type StreamTarget } from "./sse-reader.ts";

let database: TestDatabase;
let api: TestApi;
let [ann, eve] = [] as unknown as [TestTenant, TestTenant];
const storage = mkdtempSync(join(tmpdir(), "gesso-streams-"));
const open: SseReader[] = [];

const query = (text: string, values: unknown[] = []) =>
  database.owner.query(`streams.${text}`.slice(0, 60), text, values) as never;

beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
  [ann, eve] = [await createTestTenant({ url: "", query }), await createTestTenant({ url: "", query })];
  api = await startTestApi(database, { STORAGE_DIR: storage, STREAM_HEARTBEAT_SECONDS: "0.3" });
});
afterAll(async () => {
  for (const reader of open) reader.cut();
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

const read = async (path: string, where: Partial<StreamTarget> = {}): Promise<SseReader> => {
  const reader = await openSseReader({ url: api.url, key: ann.key, path, ...where });
  open.push(reader);
  return reader;
};
const newRun = (about = {}): Promise<SimulatedRun> => createSimulatedRun(database.db, ann.tenant_id, about);
const types = (reader: SseReader) => reader.heard.map(({ type }) => type);
const ids = (reader: SseReader) => reader.heard.map(({ id }) => id);

async function live(run: SimulatedRun): Promise<void> {
  await run.begin();
  for (const at of [0.2, 0.4, 0.6, 0.8]) await run.progress(at);
  await run.complete();
}
const WHOLE = ["run.queued", "run.processing", ...Array(4).fill("run.progress"), "run.completed"];

describe("the stream of a run", () => {
  it("sends past and new events, the final one last, and closes", async () => {
    const run = await newRun();
    await run.begin();
    const reader = await read(`/runs/${run.run_id}/events`);
    expect(reader.response.statusCode).toBe(200);
    expect(reader.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
    });
    await reader.until(({ type }) => type === "run.processing");
    for (const at of [0.2, 0.4, 0.6, 0.8]) await run.progress(at);
    await run.complete();
    expect(await reader.ended).toBe("ended");
    expect(types(reader)).toEqual(WHOLE);
    expect([...ids(reader)].sort()).toEqual(ids(reader));
    expect(new Set(ids(reader)).size).toBe(WHOLE.length);
    expect(reader.text().startsWith("retry: 1000\n\n")).toBe(true);
  });

  it("shows the run in short as of the event, without prompt and inputs", async () => {
    const run = await newRun();
    await run.begin();
    await run.progress(0.5);
    await run.fail();
    const reader = await read(`/runs/${run.run_id}/events`);
    await reader.ended;
    const shown = reader.heard.map(({ event }) => event);
    expect(shown.map(({ data }) => [data.status, data.progress])).toEqual([
      ...[["queued", 0] as const, ["processing", 0.01] as const],
      ...[["processing", 0.5] as const, ["failed", 0.5] as const],
    ]);
    expect(Object.keys(shown[3].data).sort()).toEqual(
      "created_at customer end_user error expires_at image_url live_status metadata outputs parent_run_id progress run_id run_type status updated_at video_url warnings".split(
        " ",
      ),
    );
    expect(shown[0].data.error).toBeNull();
    expect(shown[3].data).toMatchObject({ error: { code: "provider_error" }, metadata: { order: 7 } });
    expect(shown[3].event_id).toMatch(/^evt_[0-9a-f-]{36}$/);
    expect(reader.text()).not.toContain("garden");
  });

  it("resumes after the given ID and repeats identical events", async () => {
    const run = await newRun();
    await live(run);
    const whole = await read(`/runs/${run.run_id}/events`);
    await whole.ended;
    for (const [index, { id }] of whole.heard.entries()) {
      const rest = await read(`/runs/${run.run_id}/events`, { lastEventId: id });
      await rest.ended;
      expect(rest.heard.map(({ event }) => event)).toEqual(whole.heard.slice(index + 1).map(({ event }) => event));
      expect(rest.response.statusCode).toBe(index === WHOLE.length - 1 ? 204 : 200);
    }
    const byField = await read(`/runs/${run.run_id}/events?after=${ids(whole)[2]}`);
    await byField.ended;
    expect(ids(byField)).toEqual(ids(whole).slice(3));
  });

  it("refuses an invalid ID, and finds only the caller's own runs", async () => {
    const [mine, theirs] = [await newRun(), await createSimulatedRun(database.db, eve.tenant_id)];
    const wrong = await read(`/runs/${mine.run_id}/events`, { lastEventId: "yesterday" });
    expect(wrong.response.statusCode).toBe(400);
    const foreign = await read(`/runs/${theirs.run_id}/events`);
    expect(foreign.response.statusCode).toBe(404);
    expect((await read(`/events?run_id=${theirs.run_id}`)).response.statusCode).toBe(404);
  });

  it("sends the final event of a run whose events have expired", async () => {
    const run = await newRun();
    await live(run);
    await query("delete from events where run_id = $1", [run.run_id]);
    const reader = await read(`/runs/${run.run_id}/events`);
    await reader.ended;
    expect(reader.heard.map(({ event }) => [event.type, event.data.status])).toEqual([["run.completed", "completed"]]);
    const again = await read(`/runs/${run.run_id}/events`, { lastEventId: ids(reader)[0] });
    expect(again.response.statusCode).toBe(204);
  });

  it("refuses an ID that is newer than the log, because the log was restored to an earlier time", async () => {
    const run = await newRun();
    const ahead = formatPosition({ xact: 2 ** 47, seq: 1 });
    const reader = await read(`/runs/${run.run_id}/events`, { lastEventId: ahead });
    await reader.ended;
    expect([reader.response.statusCode, JSON.parse(reader.text()).code]).toEqual([410, "event_position_lost"]);
  });

  it("sends a heartbeat while nothing happens", async () => {
    const run = await newRun();
    const reader = await read(`/runs/${run.run_id}/events`);
    await expect.poll(() => reader.text().match(/^: still here$/gm)?.length ?? 0).toBeGreaterThanOrEqual(2);
    reader.cut();
  });
});

describe("the stream of a tenant", () => {
  it("begins with the state of the unfinished runs, and contains no other tenant's", async () => {
    // A new reader gets the state at the position up to which the process has read the log; another reader sees that
    // position pass.
    const before = await read("/events");
    const [open1, open2, ended] = [await newRun(), await newRun(), await newRun()];
    await open1.begin();
    await live(ended);
    await before.until(({ type, event }) => type === "run.completed" && event.data.run_id === ended.run_id);
    const reader = await read("/events");
    const foreign = await createSimulatedRun(database.db, eve.tenant_id);
    await live(foreign);
    await open2.begin();
    await reader.until(({ event }) => event.type === "run.processing" && event.data.run_id === open2.run_id);
    const reported = (run: SimulatedRun) => reader.heard.filter(({ event }) => event.data.run_id === run.run_id);
    expect(reported(open1).map(({ type }) => type)).toEqual(["run.processing"]);
    expect(reported(open2).map(({ type }) => type)).toEqual(["run.queued", "run.processing"]);
    expect([reported(ended), reported(foreign)]).toEqual([[], []]);
    for (const run of [open1, open2]) await run.complete();
  });

  it("sends only the requested events, and a reader of few events still resumes at the newest position", async () => {
    const reader = await read(`/events?types=${JSON.stringify(["run.completed"])}&run_type=image-edit`);
    const [wanted, other] = [await newRun({ run_type: "image-edit" }), await newRun()];
    await live(wanted);
    await live(other);
    await reader.until(({ type }) => type === "run.completed");
    // An ID alone tells that the events of the other run were read and left out.
    const lastId = () => [...reader.text().matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
    await expect.poll(() => lastId() > ids(reader)[0]!).toBe(true);
    expect(reader.heard.map(({ event }) => event.data.run_id)).toEqual([wanted.run_id]);
    const single = await read("/events?types=run.failed");
    expect(single.response.statusCode).toBe(200);
    expect((await read("/events?types=run.forgotten")).response.statusCode).toBe(400);
  });

  it("resumes after an ID through more than a page of missed events", async () => {
    const first = await newRun();
    const reader = await read(`/events?run_id=${first.run_id}`);
    const { id } = await reader.until(({ type }) => type === "run.queued");
    const runs = await Promise.all(Array.from({ length: 60 }, () => newRun()));
    await Promise.all(runs.map(live));
    const back = await read("/events", { lastEventId: id });
    await back.until(() => back.heard.length === 60 * WHOLE.length);
    expect(new Set(ids(back)).size).toBe(60 * WHOLE.length);
    expect([...ids(back)].sort()).toEqual(ids(back));
    for (const run of runs) {
      const own = back.heard.filter(({ event }) => event.data.run_id === run.run_id);
      expect(own.map(({ type }) => type)).toEqual(WHOLE);
    }
  });
});

describe("the log in pages, as JSON", () => {
  const page = async (path: string, key = ann.key) => {
    const headers = { accept: "application/json", authorization: `Bearer ${key}` };
    const response = await fetch(`${api.url}/api/v1${path}`, { headers });
    return (await response.json()) as { data: any[]; last_id: string | null };
  };

  it("contains the events of the stream", async () => {
    const run = await newRun();
    const odd = await fetch(`${api.url}/api/v1/events`, {
      headers: { accept: "application/problem+json", authorization: `Bearer ${ann.key}` },
    });
    expect(odd.headers.get("content-type")).toBe("application/json");
    expect((await page(`/runs/${run.run_id}/events`)).data.map(({ type }) => type)).toEqual(["run.queued"]);
    await live(run);
    const reader = await read(`/runs/${run.run_id}/events`);
    await reader.ended;
    const { data, last_id } = await page(`/runs/${run.run_id}/events`);
    expect(data).toEqual(reader.heard.map(({ id, event }) => ({ id, ...event })));
    expect(last_id).toBe(ids(reader).at(-1));
    expect(await page(`/runs/${run.run_id}/events?after=${last_id}`)).toEqual({ data: [], last_id });
  });

  it("continues from page to page, through all events of a tenant and no other's", async () => {
    const own = await createTestTenant({ url: "", query });
    const waiting = await createSimulatedRun(database.db, own.tenant_id);
    const first = await page("/events", own.key);
    expect(first.data.map(({ data }) => data.run_id)).toEqual([waiting.run_id]);
    const runs = await Promise.all(Array.from({ length: 45 }, () => createSimulatedRun(database.db, own.tenant_id)));
    await Promise.all(runs.map(live));
    const seen: string[] = [];
    for (let after = first.last_id; ; ) {
      const { data, last_id } = await page(`/events?after=${after}`, own.key);
      if (data.length === 0) break;
      seen.push(...data.map(({ id }) => id));
      after = last_id;
    }
    expect([seen.length, new Set(seen).size]).toEqual([45 * WHOLE.length, 45 * WHOLE.length]);
    const last = await createSimulatedRun(database.db, own.tenant_id, { run_type: "image-edit" });
    const few = await page(`/events?after=${first.last_id}&run_type=image-edit`, own.key);
    expect(few.data.map(({ type, data }) => [type, data.run_id])).toEqual([["run.queued", last.run_id]]);
  });
});

describe("a reader", () => {
  it("that does not read is disconnected, and misses nothing when it reconnects", async () => {
    const own = await createTestTenant({ url: "", query });
    const sluggish = await read("/events", { key: own.key });
    await createSimulatedRun(database.db, own.tenant_id);
    await sluggish.until(({ type }) => type === "run.queued");
    sluggish.response.pause();
    const metadata = { notes: "x".repeat(15_000) };
    let expected = 1;
    for (let n = 0; n < 60; n++, expected += 20) {
      const batch = Array.from({ length: 10 }, () => createSimulatedRun(database.db, own.tenant_id, { metadata }));
      await Promise.all(batch.map(async (run) => (await run).cancel()));
    }
    sluggish.response.resume();
    expect(await sluggish.ended).toBe("cut");
    expect(sluggish.heard.length).toBeLessThan(expected);
    const back = await read("/events", { key: own.key, lastEventId: ids(sluggish).at(-1) });
    await back.until(() => sluggish.heard.length + back.heard.length >= expected);
    const all = [...ids(sluggish), ...ids(back)];
    expect([all.length, new Set(all).size]).toEqual([expected, expected]);
    expect([...all].sort()).toEqual(all);
  });

  it("beyond the limit of its tenant is refused, until another disconnects", async () => {
    const few = await createTestTenant({ url: "", query }, { tenant: { limits: { streams: 2 } } });
    const [one] = [await read("/events", { key: few.key }), await read("/events", { key: few.key })];
    const third = await read("/events", { key: few.key });
    expect([third.response.statusCode, third.response.headers["retry-after"]]).toEqual([429, "5"]);
    one.cut();
    await expect.poll(async () => (await read("/events", { key: few.key })).response.statusCode).toBe(200);
  });

  it("is disconnected when its credential expires", async () => {
    const soon = await createTestTenant({ url: "", query }, { expires_at: new Date(Date.now() + 5000) });
    const reader = await read("/events", { key: soon.key });
    expect(reader.response.statusCode).toBe(200);
    expect(await reader.ended).toBe("ended");
    expect((await read("/events", { key: soon.key })).response.statusCode).toBe(401);
  });

  it.each([
    ["is revoked", "update api_keys set revoked_at = now() where key_id = $1", 401],
    ["may less than before", "update api_keys set scopes = '{images:read}' where key_id = $1", 403],
    [
      "belongs to a tenant that is suspended",
      "update tenants set suspended_at = now() where tenant_id = (select tenant_id from api_keys where key_id = $1)",
      403,
    ],
  ])("is disconnected when its key %s", async (_, change, status) => {
    const own = await createTestTenant({ url: "", query });
    const reader = await read("/events", { key: own.key });
    expect(reader.response.statusCode).toBe(200);
    // Directly in the database, so that the process that serves the stream gets no notification.
    await query(change, [own.key_id]);
    expect(await reader.ended).toBe("ended");
    expect((await read("/events", { key: own.key })).response.statusCode).toBe(status);
  });
});
