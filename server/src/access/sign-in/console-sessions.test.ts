// Sessions of the console on a real database: how they begin, what they may, and when they end.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestTenant, type TenantOptions } from "../../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Caller } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";
import { createApiKeyLookup } from "../api-key-lookup.ts";
import { createUnknownKeyLimit } from "../limits/unknown-key-limit.ts";
import type { Issuers } from "../tokens/issuers.ts";
import { type ConsoleSessions, createConsoleSessions, type SignIn, signInWithKey } from "./console-sessions.ts";
import { createSessionLookup, SESSION_SECONDS, type SessionLookup } from "./session-lookup.ts";
import { generateSessionSecret, hashSessionSecret } from "./session-secret.ts";

const [SECOND, HOUR, DAY] = [1000, 3_600_000, 86_400_000];
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];

let now: number;
let sessions: ConsoleSessions;
let lookup: SessionLookup;
let findMember: Issuers["findMember"];
let sessionSeconds: Issuers["sessionSeconds"];
const keysOf = () => createApiKeyLookup(database.db, { now: () => now });
beforeEach(() => {
  now = Date.now();
  const clock = { now: () => now, monotonic: () => now };
  const keys = keysOf();
  findMember = async () => undefined;
  sessionSeconds = () => SESSION_SECONDS;
  lookup = createSessionLookup({
    ...{ database: database.db, keys, clock, unknownKeys: createUnknownKeyLimit(3, clock) },
    issuers: { findMember: (...member) => findMember(...member), sessionSeconds: (id) => sessionSeconds(id) },
  });
  sessions = createConsoleSessions({ database: database.db, lookup, keys, clock, ids: { next: () => v7() } });
});

const createKey = (options: TenantOptions = {}) => createTestTenant({ url: "", query } as never, options);
const callerOf = async (key_id: string) => (await keysOf().find({ key_id }))!;
const credentials = (secret: string | undefined, headers: Record<string, string> = {}) => ({
  headers: new Headers({ ...(secret && { cookie: `__Host-gesso=${secret}` }), ...headers }),
  url: "http://127.0.0.1/console/api/v1/me",
  address: "192.0.2.1",
});
const clockOf = { now: () => now };
/** A session of a new tenant's key, or of an existing one. */
async function signIn(options: TenantOptions = {}) {
  const tenant = await createKey(options);
  const begun = await sessions.begin(signInWithKey(await callerOf(tenant.key_id), "key", clockOf), undefined);
  return { ...tenant, ...begun };
}
const authenticate = (secret: string) => sessions.authenticate(credentials(secret));
const refusal = async (promise: Promise<unknown>) =>
  promise.then(
    () => "accepted",
    (thrown) => (thrown as Fault).code,
  );
const stateOf = (secret: string) => refusal(authenticate(secret));

describe("a session that came from a key", () => {
  it("has the role of the member and the scopes and limits of the key, and no more", async () => {
    const options = { role: "developer", scopes: ["images:write"], limits: { open_runs: 2 } } as const;
    const { secret, tenant_id, key_id, session } = await signIn({ ...options, scopes: [...options.scopes] });
    expect(await authenticate(secret)).toMatchObject({
      ...{ tenant_id, key_id, role: "developer", scopes: ["images:write"], limits: { open_runs: 2 }, token: null },
      session: { session_id: session.id, method: "key", last_login_at: new Date(now) },
    });
  });

  it("is stored as a digest only", async () => {
    const { secret } = await signIn();
    const rows = await query<object>("select * from console_sessions");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it("ends 12 hours after its last request, and after 7 days at the latest", async () => {
    const { secret } = await signIn();
    now += 12 * HOUR - SECOND;
    const caller = await authenticate(secret);
    expect(caller.expires_at).toEqual(new Date(now + SECOND));
    now += 2 * SECOND;
    expect(await stateOf(secret)).toBe("session_required");

    const { secret: used } = await signIn();
    const until = now + 7 * DAY;
    while (now < until - 6 * HOUR) {
      const active = await authenticate(used);
      sessions.recordActivity(active);
      await expect
        .poll(
          async () => (await query("select 1 from console_sessions where last_seen_at = $1", [new Date(now)])).length,
        )
        .toBe(1);
      now += 6 * HOUR;
    }
    expect((await authenticate(used)).expires_at).toEqual(new Date(until));
    now = until;
    expect(await stateOf(used)).toBe("session_required");
  });

  it("ends within 5 s after its key was revoked or its member removed by another process", async () => {
    const [revoked, removed] = [await signIn(), await signIn({ user_id: "ada", role: "developer" })];
    expect([await stateOf(revoked.secret), await stateOf(removed.secret)]).toEqual(["accepted", "accepted"]);
    await query("update api_keys set revoked_at = now() where key_id = $1", [revoked.key_id]);
    await query("update members set removed_at = now() where tenant_id = $1", [removed.tenant_id]);
    now += 5 * SECOND;
    expect([await stateOf(revoked.secret), await stateOf(removed.secret)]).toEqual(Array(2).fill("session_required"));
  });

  it("loses and gains rights with its member and key within 5 s", async () => {
    const { secret, tenant_id, key_id } = await signIn({ user_id: "ada", role: "developer" });
    await authenticate(secret);
    await query("update members set role = 'viewer' where tenant_id = $1", [tenant_id]);
    await query("update api_keys set scopes = '{runs:read}' where key_id = $1", [key_id]);
    now += 5 * SECOND;
    expect(await authenticate(secret)).toMatchObject({ role: "viewer", scopes: ["runs:read"] });
  });

  it("is refused beside another credential, and while its tenant is suspended", async () => {
    const { secret, tenant_id, key } = await signIn();
    const both = sessions.authenticate(credentials(secret, { authorization: `Bearer ${key}` }));
    expect(await refusal(both)).toBe("ambiguous_credentials");
    await query("update tenants set suspended_at = now() where tenant_id = $1", [tenant_id]);
    expect(await stateOf(secret)).toBe("tenant_suspended");
  });
});

it("a session that came from an identity provider has the rights that its member has now", async () => {
  const { tenant_id } = await createKey({ user_id: "corp:ada" });
  const member = { tenant_id, user_id: "corp:ada" };
  const oidc: SignIn = {
    ...{ ...member, method: "oidc", key_id: null, issuer: "corp", scopes: ["*"] },
    last_login_at: null,
  };
  const { secret, session } = await sessions.begin(oidc, undefined);
  expect(session).toMatchObject({ method: "oidc", issuer: "corp", last_login_at: null, recent_login_until: null });
  findMember = async (issuer, { scopes }) => ({ ...member, issuer, scopes, expires_at: null }) as unknown as Caller;
  expect(await authenticate(secret)).toMatchObject({ ...member, issuer: "corp", scopes: ["*"] });
  for (const removed of [new Fault("permission_denied", { reason: "not_a_member" }), new Fault("invalid_token")]) {
    findMember = async () => {
      throw removed;
    };
    expect(await stateOf(secret)).toBe("session_required");
  }
  findMember = async () => {
    throw new Fault("tenant_suspended");
  };
  expect(await stateOf(secret)).toBe("tenant_suspended");
});

it("a session that came from an identity provider ends after the hours of its issuer, however often it is used", async () => {
  const { tenant_id } = await createKey({ user_id: "corp:eda" });
  const member = { tenant_id, user_id: "corp:eda" };
  const oidc: SignIn = {
    ...{ ...member, method: "oidc", key_id: null, issuer: "corp", scopes: ["*"] },
    last_login_at: null,
  };
  findMember = async () => ({ ...member, scopes: ["*"], expires_at: null }) as unknown as Caller;
  sessionSeconds = (id) => (id === "corp" ? 8 * 3600 : 0);
  const { secret, session } = await sessions.begin(oidc, undefined);
  const end = Date.parse(session.created_at) + 8 * 3_600_000;
  expect(session.expires_at).toBe(new Date(end).toISOString());
  now = end - 1;
  sessions.recordActivity(await authenticate(secret));
  expect((await authenticate(secret)).expires_at).toEqual(new Date(end));
  now = end;
  expect(await stateOf(secret)).toBe("session_required");
  // The operator has removed the issuer.
  now = end - 1;
  sessionSeconds = () => 0;
  expect(await stateOf(secret)).toBe("session_required");
});

describe("the sessions of a member", () => {
  it("are listed and ended by the member, and not by another member or tenant", async () => {
    const own = await signIn({ user_id: "ada", role: "developer" });
    const { tenant_id } = own;
    const second = await sessions.begin(signInWithKey(await callerOf(own.key_id), "key", clockOf), undefined);
    const [colleague, other] = [await signIn({ tenantId: tenant_id, user_id: "bob" }), await signIn()];
    const caller = await authenticate(own.secret);
    expect((await sessions.list(caller)).map(({ id, is_current }) => [id, is_current])).toEqual([
      [second.session.id, false],
      [own.session.id, true],
    ]);
    for (const { session, secret } of [colleague, other]) {
      expect(await sessions.end(caller, session.id)).toBe(false);
      expect(await stateOf(secret)).toBe("accepted");
    }
    expect(await sessions.end(caller, second.session.id)).toBe(true);
    expect(await stateOf(second.secret)).toBe("session_required");
    expect(await sessions.end(caller, second.session.id)).toBe(false);
    expect(await sessions.list(caller)).toHaveLength(1);
  });

  it("are replaced by a new sign-in in the same browser, and recorded in the audit log", async () => {
    const first = await signIn();
    await authenticate(first.secret);
    const grant = signInWithKey(await callerOf(first.key_id), "key", clockOf);
    const second = await sessions.begin(grant, hashSessionSecret(first.secret));
    expect([await stateOf(first.secret), await stateOf(second.secret)]).toEqual(["session_required", "accepted"]);
    await sessions.end(await authenticate(second.secret), second.session.id);
    const entries = await query<{ action: string; subject: string }>(
      "select action, subject from audit_log where tenant_id = $1 order by entry",
      [first.tenant_id],
    );
    expect(entries).toEqual([
      { action: "sessions.create", subject: first.session.id },
      { action: "sessions.create", subject: second.session.id },
      { action: "sessions.end", subject: second.session.id },
    ]);
  });
});

it("a session that another process ended is refused within 5 s", async () => {
  const { secret, session } = await signIn();
  expect(await stateOf(secret)).toBe("accepted");
  await query("delete from console_sessions where session_id = $1", [session.id]);
  now += 5 * SECOND;
  expect(await stateOf(secret)).toBe("session_required");
});

it("a member has at most 100 sessions: one more ends the oldest", async () => {
  const { key_id, secret, tenant_id } = await signIn();
  const grant = signInWithKey(await callerOf(key_id), "key", clockOf);
  const begun = [];
  for (const _ of Array(100).keys()) begun.push(await sessions.begin(grant, undefined));
  const rows = await query("select 1 from console_sessions where tenant_id = $1", [tenant_id]);
  expect(rows).toHaveLength(100);
  expect([await stateOf(secret), await stateOf(begun[0]!.secret)]).toEqual(["session_required", "accepted"]);
});

describe("a one-time code", () => {
  it("is exchanged once, within 60 s, for a sign-in with the rights of its key", async () => {
    const { key_id, tenant_id } = await createKey();
    const code = await sessions.createCode(await callerOf(key_id));
    now += 59 * SECOND;
    expect(await sessions.exchangeCode(code)).toMatchObject({ tenant_id, key_id, method: "code" });
    expect(await refusal(sessions.exchangeCode(code))).toBe("sign_in_code_invalid");
    const late = await sessions.createCode(await callerOf(key_id));
    now += 60 * SECOND;
    expect(await refusal(sessions.exchangeCode(late))).toBe("sign_in_code_invalid");
    expect(await refusal(sessions.exchangeCode(generateSessionSecret()))).toBe("sign_in_code_invalid");
  });

  it("is exchanged by one of two concurrent requests", async () => {
    const { key_id } = await createKey();
    const code = await sessions.createCode(await callerOf(key_id));
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => refusal(sessions.exchangeCode(code))));
    expect(outcomes.filter((outcome) => outcome === "accepted")).toHaveLength(1);
  });

  it("is created by an API key only, and dies with it", async () => {
    const { key_id, secret } = await signIn();
    const key = await callerOf(key_id);
    expect(await refusal(sessions.createCode(await authenticate(secret)))).toBe("permission_denied");
    const token = { token_id: v7(), max_spend: null, end_user: "visitor-1" };
    expect(await refusal(sessions.createCode({ ...key, token }))).toBe("permission_denied");
    expect(await refusal(sessions.createCode({ ...key, key_id: null }))).toBe("permission_denied");
    const code = await sessions.createCode(key);
    await query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    now += 5 * SECOND;
    expect(await refusal(sessions.exchangeCode(code))).toBe("sign_in_code_invalid");
  });
});

it("limits guesses of session cookies by address, while sessions in use there work", async () => {
  const { secret } = await signIn();
  expect(await stateOf(secret)).toBe("accepted");
  const guesses = [];
  for (const _ of Array(4).keys()) guesses.push(await stateOf(generateSessionSecret()));
  expect(guesses).toEqual([...Array(3).fill("session_required"), "rate_limited"]);
  now += 5 * SECOND;
  expect(await stateOf(secret)).toBe("accepted");
});
