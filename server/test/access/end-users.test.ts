// Runs of another end user of the same tenant, in every operation that takes the ID of a run: refused like an unknown
// ID, by the conditions of the statements, and again by row-level security alone.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callByPost, postMessage } from "../mcp/mcp-clients.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { baseOperations, type IdField, listIdFields } from "./id-fields.ts";
import {
  checkIsolation,
  type IsolationResult,
  startTestApi,
  type TestApi,
  withoutEndUserFilters,
  withoutEndUserPolicies,
} from "./isolation.ts";

const storage = mkdtempSync(join(tmpdir(), "gesso-end-users-"));
const env = { STORAGE_DIR: storage };
let database: TestDatabase;
let api: TestApi;
let shop: TestTenant;
const tokens: Record<string, string> = {};
const uploads: Record<string, { run_id: string; image_url: string }> = {};

const callerOf = (end_user: string, at: TestApi = api) => createHttpCaller({ ...at, key: tokens[end_user]! });

beforeAll(async () => {
  database = await startTestDatabase();
  const query = async (text: string, values?: unknown[]) =>
    database.owner.query(`visit.${text.length}`, text, values) as never;
  shop = await createTestTenant({ url: "", query });
  api = await startTestApi(database, env);
  const image = await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  for (const end_user of ["alice", "bob"]) {
    const request = { ...TOKEN_REQUEST, end_user, expires_in: 3600 };
    tokens[end_user] = (await createHttpCaller({ ...api, key: shop.key }).post("/tokens", request)).body.access_token;
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(image)], { type: "image/png" }), "a.png");
    uploads[end_user] = (await callerOf(end_user).post("/upload", form)).body.data;
  }
});
afterAll(async () => {
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

const places = baseOperations.flatMap(listIdFields).filter(({ kind }) => kind === "run");
const bad = (cells: IsolationResult[]) => cells.filter(({ outcome }) => outcome !== "good");
const check = (at: TestApi, own: string, other: string, of: IdField[] = places) =>
  checkIsolation(at, [{ name: "token", key: tokens[own]! }], of, () => uploads[other]!.run_id);

it("a run of another end user is refused in every operation like an unknown ID, in both directions, and stays", async () => {
  expect(places.length).toBeGreaterThan(40);
  const cells = [...(await check(api, "alice", "bob")), ...(await check(api, "bob", "alice"))];
  expect(bad(cells)).toEqual([]);
  for (const end_user of ["alice", "bob"])
    expect((await callerOf(end_user).get(`/runs/${uploads[end_user]!.run_id}`)).status).toBe(200);
});

it("a run of another end user is refused by row-level security alone, and by the statements alone", async () => {
  const count = { rewritten: 0 };
  for (const wrap of [
    (db: Parameters<typeof withoutEndUserPolicies>[0]) => withoutEndUserFilters(db, count),
    withoutEndUserPolicies,
  ]) {
    const other = await startTestApi(database, env, wrap);
    try {
      expect(bad(await check(other, "alice", "bob"))).toEqual([]);
    } finally {
      await other.close();
    }
  }
  expect(count.rewritten).toBeGreaterThan(50);
});

it("without both, every reading operation returns the run: the test notices what is missing", async () => {
  const count = { rewritten: 0 };
  const open = await startTestApi(database, env, (db) => withoutEndUserFilters(withoutEndUserPolicies(db), count));
  try {
    const reads = places.filter(({ operation, isFilter }) => operation.http.method === "GET" && !isFilter);
    expect(reads.length).toBeGreaterThan(5);
    expect(bad(await check(open, "alice", "bob", reads))).toHaveLength(reads.length);
  } finally {
    await open.close();
  }
});

it("lists, counts, searches, streams and cancellations have the runs of the end user alone", async () => {
  for (const own of ["alice", "bob"]) {
    const caller = callerOf(own);
    const idsOf = async (path: string) =>
      (await caller.get(path)).body.data.map(({ run_id }: { run_id: string }) => run_id);
    for (const path of [
      "/runs",
      "/runs?status=completed",
      "/runs?roots=true",
      `/runs?user_id=owner`,
      `/runs?end_user=${own}`,
    ])
      expect([path, await idsOf(path)]).toEqual([path, [uploads[own]!.run_id]]);
    for (const path of [
      "/runs?end_user=nobody",
      `/runs?end_user=${own === "bob" ? "alice" : "bob"}`,
      "/runs?status=queued",
    ])
      expect([path, await idsOf(path)]).toEqual([path, []]);
    expect((await caller.get("/runs/histogram")).body.data).toMatchObject([{ count: 1 }]);
    expect((await caller.get("/runs/histogram?status=failed")).body.data).toEqual([]);
    const events = await caller.get(`/events?after=${"0".repeat(12)}-${"0".repeat(12)}`, {
      accept: "application/json",
    });
    expect(events.body.data.map(({ data }: { data: { run_id: string } }) => data.run_id)).toEqual([
      uploads[own]!.run_id,
    ]);
    expect((await caller.post("/runs/cancel", { status: "queued" })).body).toEqual({ canceled: 0, more: false });
  }
  const wide = await createHttpCaller({ ...api, key: shop.key }).get("/runs");
  expect(wide.body.data.map(({ end_user }: { end_user: string }) => end_user).sort()).toEqual(["alice", "bob"]);
  for (const end_user of ["alice", "bob"]) {
    const filtered = await createHttpCaller({ ...api, key: shop.key }).get(`/runs?end_user=${end_user}`);
    expect(filtered.body.data).toMatchObject([{ run_id: uploads[end_user]!.run_id, end_user }]);
  }
});

it("a file of another end user is no source, whatever its URL; one's own is", async () => {
  const vary = (source: object) => callerOf("alice").post("/edits/vary", { ...source }, { prefer: "wait=0" });
  const own = await vary({ image_url: uploads.alice!.image_url, sync: false });
  expect([own.status, own.body.parent_run_id]).toEqual([202, uploads.alice!.run_id]);
  const theirs = await vary({ image_url: uploads.bob!.image_url, sync: false });
  expect([theirs.status, theirs.body.code]).toEqual([404, "asset_not_found"]);
});

it("an end user is fixed by the token, and named by other credentials", async () => {
  const order = { prompt: "a boat", sync: false };
  const [key, alice] = [createHttpCaller({ ...api, key: shop.key }), callerOf("alice")];
  const foreign = await alice.generate({ ...order, end_user: "bob" });
  expect([foreign.status, foreign.body.code, foreign.body.details.reason]).toEqual([
    403,
    "permission_denied",
    "end_user",
  ]);
  expect((await alice.generate({ ...order, end_user: "alice" })).body.end_user).toBe("alice");
  const given = (await key.generate({ ...order, end_user: "alice" })).body;
  expect(given).toMatchObject({ end_user: "alice", given: { ...order, end_user: "alice" } });
  expect(given.inputs).not.toHaveProperty("end_user");
  expect((await alice.get(`/runs/${given.run_id}`)).status).toBe(200);
  expect((await callerOf("bob").get(`/runs/${given.run_id}`)).status).toBe(404);
  const none = (await key.generate(order)).body;
  expect([none.end_user, (await alice.get(`/runs/${none.run_id}`)).status]).toEqual([null, 404]);
  expect((await alice.get("/me")).body.credential).toMatchObject({ kind: "token", end_user: "alice" });

  const rerun = (body: object) => key.post(`/runs/${given.run_id}/rerun`, body);
  expect((await rerun({})).body.end_user).toBe("alice");
  expect((await rerun({ changes: { end_user: "bob" } })).body.end_user).toBe("bob");
  expect((await key.post(`/runs/${none.run_id}/rerun`, {})).body.end_user).toBeNull();
  const own = await alice.generate(order);
  expect((await alice.post(`/runs/${own.body.run_id}/rerun`, {})).body.end_user).toBe("alice");
  expect((await key.post(`/runs/${own.body.run_id}/rerun`, {})).body.end_user).toBe("alice");
});

it("a tree has the nodes of the end user alone, also below a run of another one", async () => {
  const key = createHttpCaller({ ...api, key: shop.key });
  const root = uploads.bob!.run_id;
  const child = (await key.post("/edits/vary", { run_id: root, end_user: "alice", sync: false })).body;
  expect([child.parent_run_id, child.end_user]).toEqual([root, "alice"]);
  const nodesFor = async (caller: { get: typeof key.get }, runId: string) =>
    (await caller.get(`/runs/${runId}/tree`)).body.nodes?.map(({ run_id }: { run_id: string }) => run_id);
  expect(await nodesFor(callerOf("alice"), child.run_id)).toEqual([child.run_id]);
  expect(await nodesFor(callerOf("bob"), root)).toEqual([root]);
  expect(await nodesFor(key, root)).toEqual([root, child.run_id]);
});

it("an idempotency key belongs to one end user of one API key, and outlives a renewed token and a rotated key", async () => {
  const key = createHttpCaller({ ...api, key: shop.key });
  const mint = async (end_user: string, secret = shop.key) =>
    (await createHttpCaller({ ...api, key: secret }).post("/tokens", { ...TOKEN_REQUEST, end_user })).body.access_token;
  const order = async (secret: string) => {
    const { status, body } = await createHttpCaller({ ...api, key: secret }).generate(
      { prompt: "an order", sync: false },
      { "idempotency-key": "order-1" },
    );
    expect([status, body.code]).toEqual([202, undefined]);
    return body.run_id as string;
  };
  const second = (await key.post("/keys", { name: "second", scopes: ["*"] })).body;
  const callers = [tokens.alice!, tokens.bob!, shop.key, second.key];
  const made = [];
  for (const each of callers) made.push(await order(each));
  expect(new Set(made).size).toBe(4);
  expect(await order(await mint("alice"))).toBe(made[0]);
  const rotated = (await key.post(`/keys/${second.id}/rotate`, {})).body;
  const again = (await key.post(`/keys/${rotated.id}/rotate`, {})).body;
  expect([await order(second.key), await order(rotated.key), await order(again.key)]).toEqual([
    made[3],
    made[3],
    made[3],
  ]);
  const before = await order(await mint("carol", rotated.key));
  expect(await order(await mint("carol", again.key))).toBe(before);
  expect(await order(await mint("carol"))).not.toBe(before);
});

it("the request for an unknown run of another end user changes nothing: cancel, delete, star and rerun", async () => {
  const bobs = (await callerOf("bob").generate({ prompt: "a boat", sync: false })).body.run_id;
  const alice = callerOf("alice");
  const refused = [
    await alice.post(`/runs/${bobs}/cancel`),
    await alice.send("DELETE", `/api/v1/runs/${bobs}`),
    await alice.send("PATCH", `/api/v1/runs/${bobs}`, { body: { starred: true } }),
    await alice.post(`/runs/${bobs}/rerun`, {}),
    await alice.get(`/runs/${bobs}/events`),
  ];
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [404, "run_not_found"]));
  await alice.post("/runs/cancel", { status: "queued" });
  expect((await callerOf("bob").get(`/runs/${bobs}`)).body).toMatchObject({ status: "queued", starred: false });
  expect((await callerOf("bob").post(`/runs/${bobs}/cancel`)).body.status).toBe("canceled");
  expect((await callerOf("bob").send("DELETE", `/api/v1/runs/${bobs}`)).status).toBe(200);
  expect((await callerOf("bob").get(`/runs/${bobs}`)).body.code).toBe("run_deleted");
  expect((await alice.get(`/runs/${v7()}`)).body.code).toBe("run_not_found");
});

it("through MCP, a token reads, lists and changes the runs of its end user alone", async () => {
  const target = { url: api.url, key: tokens.alice! };
  const own = uploads.alice!.run_id;
  const theirs = uploads.bob!.run_id;
  const read = async (uri: string) => JSON.stringify((await postMessage(target, "resources/read", { uri })).body);
  expect(await read(`gesso://runs/${own}`)).toContain("image_url");
  const unknown = v7();
  for (const uri of [`gesso://runs/${theirs}`, `gesso://runs/${theirs}/preview`])
    expect((await read(uri)).replaceAll(theirs, "")).toBe(
      (await read(uri.replace(theirs, unknown))).replaceAll(unknown, ""),
    );
  const listed = JSON.stringify((await postMessage(target, "resources/list", {})).body);
  expect([listed.includes(own), listed.includes(theirs)]).toEqual([true, false]);
  for (const operation of ["runs.get", "runs.tree", "runs.delete", "runs.rerun"]) {
    const called = await callByPost(target, "call_operation", { operation, input: { run_id: theirs } });
    expect([operation, JSON.stringify(called.body)]).toEqual([operation, expect.stringContaining("run_not_found")]);
  }
});
