// Joining of re-sent requests against PostgreSQL, with two API processes that hold their locks on real connections.

import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { type ClientRequest, createClientRequests } from "./client-requests.ts";

let base: TestDatabase;
let stopOther: (() => Promise<void>) | undefined;
const [OWN_LOCK, OTHER_LOCK] = [4_000_000_001, 4_000_000_002];
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  base = await startTestDatabase();
  closers.push(await base.db.listen("client_requests_test", () => {}, OWN_LOCK));
});
afterEach(async () => {
  await stopOther?.();
  stopOther = undefined;
});
afterAll(async () => {
  for (const close of closers) await close();
  await base?.stop();
});

const processWith = (holder: number, graceMs = 50) =>
  createClientRequests({ database: base.db, clock: systemClock, ids: { next: v7 }, holder, graceMs });
const own = () => processWith(OWN_LOCK);

function newRequest(changes: Partial<ClientRequest> = {}): ClientRequest {
  const caller = { tenant_id: v7(), user_id: "u", key_id: v7() };
  return { caller, api: "openai", content: { prompt: "a bicycle" }, isRetry: false, ...changes };
}
const age = (minutes: number) =>
  base.db.query("test.age", "update client_requests set created_at = created_at - make_interval(mins => $1)", [
    minutes,
  ]);

it("two equal requests that were both answered have different keys", async () => {
  const request = newRequest();
  const first = await own().join(request);
  await first.end("answered");
  const second = await own().join(request);
  expect([first.isJoined, second.isJoined]).toEqual([false, false]);
  expect(second.idempotencyKey).not.toBe(first.idempotencyKey);
});

it("a request joins an equal one whose response was lost, whatever the order of its fields", async () => {
  const request = newRequest({ content: { prompt: "a bicycle", n: 2 } });
  const first = await own().join(request);
  await first.end("lost");
  const second = await own().join({ ...request, content: { n: 2, prompt: "a bicycle" } });
  expect(second).toMatchObject({ isJoined: true, idempotencyKey: first.idempotencyKey });
});

it("each lost request is joined once, so that two equal ones stay two", async () => {
  const request = newRequest();
  const lost = await Promise.all([own().join(request), own().join(request)]);
  await Promise.all(lost.map(({ end }) => end("lost")));
  const repeated = await Promise.all([1, 2].map(() => own().join(request)));
  const keysOf = (requests: readonly { idempotencyKey: string }[]) =>
    requests.map((each) => each.idempotencyKey).sort();
  expect(keysOf(repeated)).toEqual(keysOf(lost));
  await Promise.all(repeated.map(({ end }) => end("answered")));
  expect((await own().join(request)).isJoined).toBe(false);
});

it("six sends in a row are one request", async () => {
  const request = newRequest();
  const keys = new Set<string>();
  for (let send = 0; send < 6; send++) {
    const { idempotencyKey, end } = await own().join(request);
    keys.add(idempotencyKey);
    await end("lost");
  }
  expect(keys.size).toBe(1);
});

it("a request that says it is a retry joins an equal one that is open or answered", async () => {
  const request = newRequest();
  const first = await own().join(request);
  const retry = await own().join({ ...request, isRetry: true });
  expect(retry).toMatchObject({ isJoined: true, idempotencyKey: first.idempotencyKey });
  await retry.end("answered");
  const again = await own().join({ ...request, isRetry: true });
  expect(again.idempotencyKey).toBe(first.idempotencyKey);
});

it("a retry joins the lost request rather than a newer one that was answered", async () => {
  const request = newRequest();
  const [lost, answered] = [await own().join(request), await own().join(request)];
  await lost.end("lost");
  await answered.end("answered");
  expect((await own().join({ ...request, isRetry: true })).idempotencyKey).toBe(lost.idempotencyKey);
});

it("a retry without an earlier request is a new request", async () => {
  expect((await own().join(newRequest({ isRetry: true }))).isJoined).toBe(false);
});

it("an equal request at the same time is a new one, unless the earlier one is lost meanwhile", async () => {
  const request = newRequest();
  const first = await own().join(request);
  const second = await own().join(request);
  expect(second.isJoined).toBe(false);
  await second.end("answered");
  const third = processWith(OWN_LOCK, 1000).join(request);
  await first.end("lost");
  expect(await third).toMatchObject({ isJoined: true, idempotencyKey: first.idempotencyKey });
});

it("a request joins one of a process that died, and not one of a process that lives", async () => {
  const request = newRequest();
  stopOther = await base.db.listen("client_requests_test", () => {}, OTHER_LOCK);
  const first = await processWith(OTHER_LOCK).join(request);
  expect((await own().join({ ...request })).isJoined).toBe(false);
  await stopOther();
  await expect
    .poll(async () => {
      const { isJoined, idempotencyKey, end } = await own().join(request);
      await end(isJoined ? "lost" : "answered");
      return isJoined && idempotencyKey;
    })
    .toBe(first.idempotencyKey);
});

it("a request joins nothing of another caller, another API, other content, or older than 15 minutes", async () => {
  const request = newRequest();
  const { end } = await own().join(request);
  await end("lost");
  const others: ClientRequest[] = [
    { ...request, caller: { ...request.caller, key_id: v7() } },
    { ...request, caller: { ...request.caller, tenant_id: v7() } },
    { ...request, api: "mcp" },
    { ...request, content: { prompt: "another bicycle" } },
  ];
  for (const other of others) expect((await own().join({ ...other, isRetry: true })).isJoined).toBe(false);
  await age(16);
  expect((await own().join({ ...request, isRetry: true })).isJoined).toBe(false);
});

it("the outcome of a request that was joined does not change who may join", async () => {
  const request = newRequest();
  const first = await own().join(request);
  const retry = await own().join({ ...request, isRetry: true });
  await first.end("lost");
  await retry.end("answered");
  expect((await own().join(request)).isJoined).toBe(false);
});

it("a request joins nothing of another end user, and that of a renewed token or a rotated key", async () => {
  const request = newRequest();
  const tokenOf = (end_user: string) => ({ token: { token_id: v7(), max_spend: null, end_user } });
  const as = (more: object) => ({ ...request, caller: { ...request.caller, ...more } });
  const alice = await own().join(as(tokenOf("alice")));
  await alice.end("lost");
  for (const other of [request, as(tokenOf("bob")), as({ ...tokenOf("alice"), key_id: v7() })])
    expect((await own().join({ ...other, isRetry: true })).isJoined).toBe(false);
  const rotated = { ...tokenOf("alice"), key_id: v7(), holder_id: request.caller.key_id };
  expect((await own().join(as(rotated))).idempotencyKey).toBe(alice.idempotencyKey);
});
