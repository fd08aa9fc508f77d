// Keys, members and tenants over HTTP: which rights a caller can pass on, and how soon a revocation takes effect.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTamperedAuditEntries } from "../../src/db/access/audit-log.ts";
import { connectDatabase } from "../../src/db/connect.ts";
import { type ApiResponse, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let ann: TestTenant;
const UNKNOWN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

beforeAll(async () => {
  environment = await startTestEnvironment({ env: { REQUESTS_PER_MINUTE: "100000" } });
  ann = await createTestTenant(environment, { user_id: "ann" });
});
afterAll(() => environment?.stop());

/** As if the time of the key had come. */
const expire = (keyId: string) =>
  environment.query("update api_keys set expires_at = now() where key_id = $1", [keyId]);
const with_ = (key: string) => createHttpCaller({ url: environment.url, key });
const reported = ({ status, body }: ApiResponse) => [status, body.code];
const patch = ({ caller }: Pick<TestTenant, "caller">, path: string, body: object) =>
  caller.send("PATCH", `/api/v1${path}`, { body });

describe("a key", () => {
  it("is shown once, works immediately, and is listed with its hint, last use and creator", async () => {
    const made = await ann.caller.post("/keys", { name: "web", scopes: ["runs:read"], limits: { open_runs: 3 } });
    expect(made).toMatchObject({ status: 201, body: { name: "web", user_id: "ann", scopes: ["runs:read"] } });
    const { key, ...shown } = made.body;
    expect(shown.hint).toBe(key.slice(40, 44));
    expect((await with_(key).get("/runs")).status).toBe(200);
    expect(reported(await with_(key).generate({ prompt: "x" }))).toEqual([403, "insufficient_scope"]);
    await expect.poll(async () => (await ann.caller.get(`/keys/${shown.id}`)).body.last_used_at).toMatch(/^\d{4}-/);
    const [listed] = (await ann.caller.get("/keys?limit=1")).body.data;
    expect(listed).toMatchObject({ ...shown, last_used_at: expect.any(String) });
    expect(JSON.stringify([listed, (await ann.caller.get(`/keys/${shown.id}`)).body])).not.toContain(key);
    const rows = await environment.query("select row_to_json(api_keys)::text as text from api_keys");
    expect(rows.some(({ text }) => String(text).includes(key))).toBe(false);
  });

  it("is created once for an Idempotency-Key, and then not shown again", async () => {
    const [draft, header] = [{ name: "once", scopes: ["runs:read"] }, { "idempotency-key": "make-once" }];
    const [first, second] = [
      await ann.caller.post("/keys", draft, header),
      await ann.caller.post("/keys", draft, header),
    ];
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
    expect([typeof first.body.key, second.body.key]).toEqual(["string", null]);
    expect(reported(await ann.caller.post("/keys", { ...draft, name: "x" }, header))).toEqual([
      422,
      "idempotency_key_reused",
    ]);
  });

  it("for an unknown member is refused each time, and leaves its Idempotency-Key free", async () => {
    const [draft, header] = [{ name: "n", scopes: ["runs:read"] }, { "idempotency-key": "unknown-member" }];
    for (let attempt = 0; attempt < 2; attempt++) {
      const refused = await ann.caller.post("/keys", { ...draft, user_id: "missing" }, header);
      expect(reported(refused)).toEqual([404, "route_not_found"]);
    }
    expect((await ann.caller.post("/keys", draft, header)).status).toBe(201);
  });

  it("expires, and can be changed by other keys but not by itself", async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const made = (await ann.caller.post("/keys", { name: "short", scopes: ["*"], expires_at: later })).body;
    expect((await with_(made.key).get("/runs")).status).toBe(200);
    expect(reported(await patch({ caller: with_(made.key) }, `/keys/${made.id}`, { expires_at: null }))).toEqual([
      ...[403, "permission_denied"],
    ]);
    expect(reported(await with_(made.key).post(`/keys/${made.id}/rotate`, {}))).toEqual([403, "permission_denied"]);
    await expire(made.id);
    await expect.poll(async () => reported(await with_(made.key).get("/runs"))).toEqual([401, "invalid_api_key"]);
    const soon = new Date().toISOString();
    const other = (await ann.caller.post("/keys", { name: "other", scopes: ["*"] })).body;
    const changed = await patch(ann, `/keys/${other.id}`, { name: "renamed", scopes: ["runs:read"], expires_at: soon });
    expect(changed).toMatchObject({ status: 200, body: { name: "renamed", scopes: ["runs:read"], expires_at: soon } });
    expect(reported(await with_(other.key).get("/runs"))).toEqual([401, "invalid_api_key"]);
  });

  it("is rotated with an overlap in which both work, and without one in which only the new one does", async () => {
    const old = (await ann.caller.post("/keys", { name: "turning", scopes: ["runs:*"], limits: { open_runs: 2 } }))
      .body;
    const next = await ann.caller.post(`/keys/${old.id}/rotate`, { overlap_seconds: 600 });
    expect(next).toMatchObject({
      status: 201,
      body: { name: "turning", scopes: ["runs:*"], limits: { open_runs: 2 } },
    });
    expect((await ann.caller.get(`/keys/${old.id}`)).body.replaced_by).toBe(next.body.id);
    for (const key of [old.key, next.body.key]) expect((await with_(key).get("/runs")).status).toBe(200);
    const endsAt = Date.parse((await ann.caller.get(`/keys/${old.id}`)).body.expires_at);
    expect(endsAt - Date.parse(next.body.created_at)).toBe(600_000);
    await expire(old.id);
    await expect.poll(async () => reported(await with_(old.key).get("/runs"))).toEqual([401, "invalid_api_key"]);
    expect(reported(await ann.caller.post(`/keys/${old.id}/rotate`, {}))).toEqual([409, "conflict"]);
    const last = (await ann.caller.post(`/keys/${next.body.id}/rotate`, { overlap_seconds: 0 })).body;
    expect(reported(await with_(next.body.key).get("/runs"))).toEqual([401, "invalid_api_key"]);
    expect((await with_(last.key).get("/runs")).status).toBe(200);
  });

  it("that is revoked is refused immediately, like an unknown one, and can revoke itself", async () => {
    const made = (await ann.caller.post("/keys", { name: "gone", scopes: ["keys:write", "runs:read"] })).body;
    expect((await with_(made.key).get("/runs")).status).toBe(200);
    expect((await with_(made.key).delete(`/keys/${made.id}`)).body.revoked_at).toMatch(/^\d{4}-/);
    const refused = await with_(made.key).get("/runs");
    const unknown = await with_(`${made.key.slice(0, -1)}${made.key.endsWith("x") ? "y" : "x"}`).get("/runs");
    expect([reported(refused), refused.body.message]).toEqual([[401, "invalid_api_key"], unknown.body.message]);
    expect((await ann.caller.delete(`/keys/${made.id}`)).status).toBe(200);
    expect(reported(await patch(ann, `/keys/${made.id}`, { name: "x" }))).toEqual([409, "conflict"]);
  });

  it("creates keys only with its own or narrower scopes, expiry and limits", async () => {
    const until = new Date(Date.now() + 3600_000).toISOString();
    const limits = { spend_per_day: 5, requests_per_minute: 600 };
    const draft = { name: "narrow", scopes: ["keys:*", "images:write"], expires_at: until, limits };
    const narrow = with_((await ann.caller.post("/keys", draft)).body.key);
    const post = (wish: object) => narrow.post("/keys", { name: "child", scopes: ["images:write"], ...wish });
    expect(await post({ scopes: ["images:*"] })).toMatchObject({
      ...{ status: 403, body: { code: "insufficient_scope", details: { required: ["images:*"] } } },
    });
    expect(reported(await post({ scopes: ["*"] }))).toEqual([403, "insufficient_scope"]);
    expect(reported(await post({ limits: { spend_per_day: 6 } }))).toEqual([403, "permission_denied"]);
    expect(reported(await post({ expires_at: new Date(Date.now() + 7200_000).toISOString() }))).toEqual([
      ...[403, "permission_denied"],
    ]);
    const child = (await post({ limits: { spend_per_day: 1 } })).body;
    expect(child).toMatchObject({ limits: { ...limits, spend_per_day: 1 }, expires_at: until });
    const broad = (await ann.caller.post("/keys", { name: "broad", scopes: ["*"] })).body;
    for (const response of [
      await patch({ caller: narrow }, `/keys/${broad.id}`, { name: "mine" }),
      await narrow.post(`/keys/${broad.id}/rotate`, {}),
      await narrow.delete(`/keys/${broad.id}`),
    ]) {
      expect(reported(response)).toEqual([403, "insufficient_scope"]);
    }
    expect((await with_(broad.key).get("/runs")).status).toBe(200);
  });
});

describe("members", () => {
  it("have roles that apply to all their keys immediately", async () => {
    const added = await ann.caller.post("/members", { user_id: "ben@acme", role: "developer", name: "Ben" });
    expect(added).toMatchObject({ status: 201, body: { user_id: "ben@acme", role: "developer" } });
    expect(reported(await ann.caller.post("/members", { user_id: "ben@acme", role: "owner" }))).toEqual([
      409,
      "conflict",
    ]);
    const key = (await ann.caller.post("/keys", { name: "ben", scopes: ["*"], user_id: "ben@acme" })).body.key;
    const ben = with_(key);
    expect(reported(await ben.post("/members", { user_id: "x", role: "owner" }))).toEqual([403, "permission_denied"]);
    expect(reported(await ben.get("/audit"))).toEqual([403, "permission_denied"]);
    expect((await ben.get("/keys")).body.data.map((each: any) => each.user_id)).toEqual(["ben@acme"]);
    expect(reported(await ben.get(`/keys/${ann.key_id}`))).toEqual([404, "route_not_found"]);
    expect(reported(await ben.post("/keys", { name: "x", scopes: ["*"], user_id: "ann" }))).toEqual([
      403,
      "permission_denied",
    ]);
    expect((await ben.get("/members?limit=1")).body.data).toHaveLength(1);

    expect((await patch(ann, "/members/ben@acme", { role: "viewer" })).status).toBe(200);
    expect((await ben.get("/runs")).status).toBe(200);
    expect(reported(await ben.generate({ prompt: "x" }))).toEqual([403, "permission_denied"]);
    expect((await ann.caller.delete("/members/ben@acme")).status).toBe(200);
    expect(reported(await ben.get("/runs"))).toEqual([401, "invalid_api_key"]);
    expect(reported(await ann.caller.delete("/members/ben@acme"))).toEqual([404, "route_not_found"]);
    expect(reported(await ann.caller.post("/keys", { name: "x", scopes: ["*"], user_id: "ben@acme" }))).toEqual([
      ...[404, "route_not_found"],
    ]);
  });

  it("never leave a tenant without an owner, even if two leave at the same moment", async () => {
    expect(await ann.caller.delete("/members/ann")).toMatchObject({
      status: 409,
      body: { details: { reason: "last_owner" } },
    });
    for (let round = 0; round < 20; round++) {
      const one = await createTestTenant(environment, { user_id: "one" });
      const other = await createTestTenant(environment, { tenantId: one.tenant_id, user_id: "two" });
      const responses = await Promise.all([one.caller.delete("/members/two"), other.caller.delete("/members/one")]);
      const [left] = await environment.query(
        "select count(*)::int as n from members where tenant_id = $1 and role = 'owner' and removed_at is null",
        [one.tenant_id],
      );
      expect(left!.n, JSON.stringify(responses.map(reported))).toBeGreaterThan(0);
      expect(responses.every(({ status }) => status < 500)).toBe(true);
    }
  });
});

describe("the operator", () => {
  const operator = () => createHttpCaller(environment);

  it("creates tenants with an owner and a key, changes their share, and suspends them", async () => {
    const wish = { name: "Acme", owner_id: "ada", weight: 2, limits: { spend_per_month: 500 } };
    const made = await operator().post("/tenants", wish, { "idempotency-key": "acme" });
    expect(made).toMatchObject({ status: 201, body: { name: "Acme", weight: 2, suspended: false } });
    const again = await operator().post("/tenants", wish, { "idempotency-key": "acme" });
    expect(again).toMatchObject({ status: 409, body: { details: { tenant_id: made.body.id } } });
    const ada = with_(made.body.owner_key.key);
    expect((await ada.get("/members")).body.data).toMatchObject([{ user_id: "ada", role: "owner" }]);
    expect(reported(await ada.get("/tenants"))).toEqual([403, "insufficient_scope"]);
    expect(reported(await ada.post("/keys", { name: "x", scopes: ["tenants:*"] }))).toEqual([
      403,
      "insufficient_scope",
    ]);

    const path = `/tenants/${made.body.id}`;
    expect((await patch({ caller: operator() }, path, { suspended: true })).body.suspended).toBe(true);
    expect(reported(await ada.get("/runs"))).toEqual([403, "tenant_suspended"]);
    await patch({ caller: operator() }, path, { suspended: false, weight: 3 });
    expect((await ada.get("/runs")).status).toBe(200);
    expect((await operator().get(path)).body).toMatchObject({ weight: 3, suspended: false, limits: wish.limits });
    expect(reported(await operator().get(`/tenants/${UNKNOWN}`))).toEqual([404, "route_not_found"]);
    expect((await operator().get("/tenants?limit=1")).body).toMatchObject({ next_cursor: expect.any(String) });
  });
});

describe("the audit log", () => {
  it("lists every change with its author, page by page, and the changed values", async () => {
    const eve = await createTestTenant(environment, { user_id: "eve" });
    const { id } = (await eve.caller.post("/keys", { name: "k", scopes: ["runs:read"] })).body;
    await patch(eve, `/keys/${id}`, { name: "l" });
    await eve.caller.post(`/keys/${id}/rotate`, {});
    await eve.caller.delete(`/keys/${id}`);
    await eve.caller.post("/members", { user_id: "fay", role: "viewer" });
    const { body } = await eve.caller.get("/audit?limit=4");
    const rest = (await eve.caller.get(`/audit?limit=4&cursor=${body.next_cursor}`)).body;
    expect([...body.data, ...rest.data].map(({ action, subject, entry }) => [entry, action, subject])).toEqual([
      ...[
        [5, "members.add", "fay"],
        [4, "keys.revoke", id],
        [3, "keys.rotate", id],
      ],
      ...[
        [2, "keys.update", id],
        [1, "keys.create", id],
      ],
    ]);
    expect(body.data[0]).toMatchObject({
      user_id: "eve",
      key_id: eve.key_id,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });

    const db = connectDatabase({ DATABASE_URL: environment.databaseUrl, DATABASE_POOL: 2 });
    try {
      expect(await findTamperedAuditEntries(db)).toEqual([]);
      for (const change of ["update audit_log set subject = 'x'", "delete from audit_log", "truncate audit_log"]) {
        await expect(environment.query(change)).rejects.toThrow("never changed");
      }
      await environment.query("alter table audit_log disable trigger all");
      await environment.query("update audit_log set subject = 'x' where tenant_id = $1 and entry = 3", [eve.tenant_id]);
      expect(await findTamperedAuditEntries(db)).toEqual([{ tenant_id: eve.tenant_id, entry: 3 }]);
      await environment.query("update audit_log set subject = $2 where tenant_id = $1 and entry = 3", [
        eve.tenant_id,
        id,
      ]);
      await environment.query("delete from audit_log where tenant_id = $1 and entry = 2", [eve.tenant_id]);
      expect(await findTamperedAuditEntries(db)).toEqual([{ tenant_id: eve.tenant_id, entry: 3 }]);
    } finally {
      await db.close();
    }
  });
});
