// The three recovery classes when a response is lost, and every fault of a POST.
import { describe, expect, test } from "vitest";
import { startCallbackReceiver, startSandboxHarness, waitUntil } from "../../test/sandbox-harness.ts";

type Page = { data: { id: string; reference: string }[]; has_more: boolean };

const withKey = (key: string) => ({ "idempotency-key": key });

describe("class A, replay/", () => {
  test("a second POST with the key returns the first job and starts nothing", async () => {
    const rig = await startSandboxHarness();
    const first = await rig.post({}, withKey("k1"));
    const second = await rig.post({}, withKey("k1"));
    expect([first.status, second.status]).toEqual([202, 200]);
    expect(second.body.id).toBe(first.body.id);
    expect(await rig.ledger()).toMatchObject([{ id: first.body.id, posts: 2, idempotency_key: "k1" }]);
  });

  test("a model without a prefix replays too, and another key is another job", async () => {
    const rig = await startSandboxHarness();
    const first = await rig.post({ model: "plain" }, withKey("k1"));
    expect((await rig.post({ model: "plain" }, withKey("k1"))).body.id).toBe(first.body.id);
    expect((await rig.post({ model: "plain" }, withKey("k2"))).body.id).not.toBe(first.body.id);
  });

  test("after a dropped response the same key returns the job", async () => {
    const rig = await startSandboxHarness();
    const fields = { prompt: "[sandbox:drop] a hill" };
    await expect(rig.post(fields, withKey("k1"))).rejects.toThrow();
    const again = await rig.post(fields, withKey("k1"));
    expect(again.status).toBe(200);
    expect(await rig.ledger()).toMatchObject([{ id: again.body.id, posts: 2, answer_lost: true }]);
    expect(await rig.waitUntilEnded(again.body.id)).toMatchObject({ status: "succeeded" });
  });

  test("two concurrent POSTs with one key create one job", async () => {
    const rig = await startSandboxHarness();
    const fields = { prompt: "[sandbox:accept_delay=0.2] a hill" };
    const responses = await Promise.all([rig.post(fields, withKey("k")), rig.post(fields, withKey("k"))]);
    expect(responses.map((response) => response.status).sort()).toEqual([200, 202]);
    expect(await rig.ledger()).toMatchObject([{ posts: 2 }]);
  });
});

describe("class B, find/", () => {
  test("ignores the key but finds a dropped job by its reference", async () => {
    const rig = await startSandboxHarness();
    const fields = { model: "find/one", reference: "r1", prompt: "[sandbox:drop] a hill" };
    await expect(rig.post(fields, withKey("k1"))).rejects.toThrow();
    const found = await rig.call("GET", "/v1/jobs?reference=r1");
    expect(found.body.data).toMatchObject([{ id: (await rig.ledger())[0]!.id }]);
    await expect(rig.post(fields, withKey("k1"))).rejects.toThrow();
    expect((await rig.call("GET", "/v1/jobs?reference=r1")).body.data).toHaveLength(2);
    expect((await rig.call("GET", "/v1/jobs?reference=other")).body).toEqual({ data: [] });
  });
});

describe("class C, blind/", () => {
  test("honours neither key nor reference: every POST is a new job that cannot be looked up", async () => {
    const rig = await startSandboxHarness();
    const fields = { model: "blind/one", reference: "r1", prompt: "[sandbox:drop=1] a hill" };
    await expect(rig.post(fields, withKey("k1"))).rejects.toThrow();
    expect((await rig.post(fields, withKey("k1"))).status).toBe(202);
    expect((await rig.call("GET", "/v1/jobs?reference=r1")).body).toEqual({ data: [] });
    expect(await rig.ledger()).toMatchObject([{ answer_lost: true }, { answer_lost: false, reference: "r1" }]);
  });
});

describe("a reference", () => {
  test("of a job of class replay/ is not listed", async () => {
    const rig = await startSandboxHarness();
    await rig.post({ reference: "r1" });
    expect((await rig.call("GET", "/v1/jobs?reference=r1")).body).toEqual({ data: [] });
  });
});

describe("the list of jobs since a time", () => {
  test("has jobs of every class with their reference, page by page", async () => {
    const rig = await startSandboxHarness();
    await rig.post({ reference: "old" });
    const [old] = await rig.ledger();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const since = new Date().toISOString();
    for (let index = 0; index < 101; index += 1)
      await rig.post({ model: ["replay/x", "find/x", "blind/x"][index % 3], reference: `r${index}` });
    const list = async (query = "") => (await rig.call("GET", `/v1/jobs?since=${since}${query}`)).body as never as Page;
    const first = await list();
    expect([first.data.length, first.has_more, first.data[0]!.reference]).toEqual([100, true, "r0"]);
    const second = await list(`&after=${first.data.at(-1)!.id}`);
    expect([second.data.map(({ reference }) => reference), second.has_more]).toEqual([["r100"], false]);
    expect(first.data.map(({ id }) => id)).not.toContain(old!.id);
  });
});

describe("faults", () => {
  test.each([
    ["busy", 429, "rate_limited"],
    ["unavailable", 503, "unavailable"],
    ["error", 500, "internal"],
  ])("%s=2 refuses the first two POSTs and accepts the third", async (name, status, code) => {
    const rig = await startSandboxHarness();
    const fields = { prompt: `[sandbox:${name}=2] a hill` };
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await rig.post(fields);
      expect(response.status).toBe(status);
      expect(response.body.error.code).toBe(code);
      expect(response.headers.get("retry-after")).toBe(name === "error" ? null : "1");
    }
    expect(await rig.ledger()).toEqual([]);
    expect((await rig.post(fields)).status).toBe(202);
  });

  test("reject returns 422 and accepts nothing", async () => {
    const rig = await startSandboxHarness();
    expect((await rig.post({ prompt: "[sandbox:reject] a hill" })).status).toBe(422);
    expect(await rig.ledger()).toEqual([]);
  });

  test("drop_before loses the first POST with nothing accepted", async () => {
    const rig = await startSandboxHarness();
    const fields = { prompt: "[sandbox:drop_before] a hill" };
    await expect(rig.post(fields)).rejects.toThrow();
    expect(await rig.ledger()).toEqual([]);
    expect((await rig.post(fields)).status).toBe(202);
  });

  test("accept_delay accepts in the middle and responds at the end", async () => {
    const rig = await startSandboxHarness();
    const start = Date.now();
    let answeredAt = 0;
    const posting = rig.post({ prompt: "[sandbox:accept_delay=2] a hill" }).then(() => {
      answeredAt = Date.now();
    });
    await waitUntil(async () => (await rig.ledger()).length === 1);
    const acceptedAt = Date.parse((await rig.ledger())[0]!.accepted_at);
    await posting;
    // Node's timers and the wall clock may differ by milliseconds.
    expect(acceptedAt - start).toBeGreaterThanOrEqual(990);
    expect(answeredAt - acceptedAt).toBeGreaterThanOrEqual(990);
  });

  test("a caller that disconnects while it waits still has its job, with the response marked as lost", async () => {
    const rig = await startSandboxHarness();
    const body = JSON.stringify({ model: "m", task: "image.generate", prompt: "[sandbox:accept_delay=2] a hill" });
    const headers = { authorization: "Bearer test-key" };
    const leaving = new AbortController();
    const { signal } = leaving;
    const posting = fetch(`${rig.url()}/v1/jobs`, { method: "POST", body, headers, signal });
    // The job is accepted in the middle of the delay. A caller that left before it was heard would have none.
    expect(await waitUntil(async () => (await rig.ledger())[0])).toMatchObject({ posts: 1 });
    leaving.abort();
    await expect(posting).rejects.toThrow();
    await waitUntil(async () => (await rig.ledger())[0]!.answer_lost);
  });

  test("callback_first calls back before the response to the POST", async () => {
    const rig = await startSandboxHarness();
    const ear = await startCallbackReceiver();
    const { body } = await rig.post({ prompt: "[sandbox:callback_first,delay=0.05] a hill", callback_url: ear.url });
    expect(body.status).toBe("queued");
    expect(ear.heard).toMatchObject([{ job: { id: body.id, status: "succeeded" } }]);
  });
});
