// Limits as customers meet them: rates of runs and keys, callers that wait, and the place in the queue.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { until } from "../support/until.ts";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split", env: { TENANT_WAITERS: "5", WAITERS: "8" } });
});
afterAll(() => environment?.stop());

const ORDER = { prompt: "[sandbox:delay=0] a limit", width: 64, height: 64 };

describe("the rate limit of runs", () => {
  it("is not used up by replays or refused requests", async () => {
    const { caller } = await createTestTenant(environment, { tenant: { limits: { runs_per_minute: 2 } } });
    const first = await caller.generate(ORDER, { "idempotency-key": "one" });
    for (let again = 0; again < 5; again++) {
      const replay = await caller.generate(ORDER, { "idempotency-key": "one" });
      expect([replay.status < 300, replay.body.run_id]).toEqual([true, first.body.run_id]);
    }
    const unknown = { prompt: "of nothing", run_id: randomUUID() };
    for (let again = 0; again < 5; again++) expect((await caller.post("/edits/vendora", unknown)).status).toBe(404);
    expect((await caller.generate(ORDER)).status).toBe(202);
    const over = await caller.generate(ORDER);
    expect([over.status, over.body.code, over.body.details.policy]).toEqual([429, "rate_limited", "runs"]);
    expect(over.headers.get("ratelimit")).toMatch(/"runs";r=0;t=\d+/);
    expect((await caller.get("/runs")).status).toBe(200);
  });

  it("can be lower for a key than for its tenant", async () => {
    const { tenant_id, caller } = await createTestTenant(environment, {
      limits: { runs_per_minute: 1, requests_per_minute: 50 },
    });
    const other = await createTestTenant(environment, { tenantId: tenant_id });
    const first = await caller.generate(ORDER);
    expect(first.headers.get("ratelimit-policy")).toContain('"key-runs";q=1;w=60');
    expect(first.headers.get("ratelimit")).toMatch(/"key-requests";r=\d+;t=\d+/);
    const over = await caller.generate(ORDER);
    expect([over.status, over.body.details.policy]).toEqual([429, "key-runs"]);
    expect((await other.caller.generate(ORDER)).status).toBe(202);
  });
});

describe("waiting callers", () => {
  it("are limited per tenant and in total; further ones are rejected immediately, and every run continues", async () => {
    const [one, two] = [await createTestTenant(environment), await createTestTenant(environment)];
    const waiting = { ...ORDER, prompt: "[sandbox:delay=3] patience", sync: true };
    const ask = async ({ caller }: typeof one) => {
      const startedAt = performance.now();
      const { status, body } = await caller.generate(waiting);
      return { status, run_id: body.run_id, seconds: (performance.now() - startedAt) / 1000 };
    };
    const [ofOne, ofTwo] = await Promise.all(
      [one, two].map((each) => Promise.all(Array.from({ length: 10 }, () => ask(each)))),
    );
    const responses = [...ofOne!, ...ofTwo!];
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(8);
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(12);
    expect(ofOne!.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5);
    expect(ofTwo!.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5);
    for (const { run_id } of ofOne!) expect((await one.caller.waitUntilEnded(run_id)).status).toBe("completed");
    for (const { run_id } of ofTwo!) expect((await two.caller.waitUntilEnded(run_id)).status).toBe("completed");
  });
});

describe("a client that disconnects while it waits for a run that it reads", () => {
  it("frees its place among the waiting requests at once, while the run continues", async () => {
    const { key, caller } = await createTestTenant(environment);
    const { run_id } = (await caller.generate({ ...ORDER, prompt: "[sandbox:delay=40] patience" })).body;
    const leaving = new AbortController();
    // A reader that finds no free place gets the open run at once, and asks again.
    const read = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${key}`, prefer: "wait=50" };
      const url = `${environment.url}/api/v1/runs/${run_id}`;
      return fetch(url, { headers, signal: leaving.signal })
        .then((response) => response.text())
        .then(read, (thrown) => thrown.name);
    };
    const readers = Array.from({ length: 5 }, read);
    const mayWait = async () => (await caller.generate({ ...ORDER, sync: true })).status === 200;
    await until(async () => !(await mayWait()));

    leaving.abort();
    expect(await Promise.all(readers)).toEqual(Array(5).fill("AbortError"));
    await until(mayWait);
    expect((await caller.get(`/runs/${run_id}`)).body.status).toBe("processing");
  });
});

describe("a queued run", () => {
  it("has its position in its tenant's own queue, whatever other tenants have queued", async () => {
    const [loud, quiet] = [await createTestTenant(environment), await createTestTenant(environment)];
    await environment.stopGracefully("worker");
    for (let n = 0; n < 20; n++) await loud.caller.generate(ORDER);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await quiet.caller.generate(ORDER)).body.run_id);
    const places = await Promise.all(ids.map((id) => quiet.caller.get(`/runs/${id}`)));
    expect(places.map(({ body }) => [body.status, body.queue_position])).toEqual([
      ["queued", 1],
      ["queued", 2],
      ["queued", 3],
    ]);
    await environment.start("worker");
    expect((await quiet.caller.waitUntilEnded(ids[2]!)).queue_position).toBeNull();
  });
});

describe("open runs", () => {
  it("can be limited for a key below its tenant", async () => {
    const slow = { ...ORDER, prompt: "[sandbox:delay=20] patience" };
    const { tenant_id, caller } = await createTestTenant(environment, { limits: { open_runs: 2 } });
    const other = await createTestTenant(environment, { tenantId: tenant_id });
    const responses = await Promise.all(Array.from({ length: 6 }, () => caller.generate(slow)));
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(2);
    expect(responses.find(({ status }) => status !== 202)!.body.code).toBe("concurrency_limit_reached");
    expect(responses[0]!.headers.get("ratelimit-policy")).toContain('"key-open-runs";q=2;qu="concurrent-requests"');
    expect((await other.caller.generate(slow)).status).toBe(202);
  });
});
