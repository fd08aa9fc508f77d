// Tokens of configured issuers on a real database: which tenant, user, role and scopes a token stands for.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createIssuers, IssuersEnv } from "./issuers.ts";

const NOW = 1_750_000_000;
const ISSUER = "https://id.example";
let database: TestDatabase;
let privateKey: CryptoKey;
let jwk: JWK;
const tenant = v7();
beforeAll(async () => {
  database = await startTestDatabase();
  const pair = await generateKeyPair("ES256");
  privateKey = pair.privateKey;
  jwk = { ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256" };
  await query("insert into tenants (tenant_id, name, weight, limits) values ($1, 'x', 3, '{\"open_runs\":5}')", [
    tenant,
  ]);
});
afterAll(() => database?.stop());

const query = (text: string, values: unknown[] = []) => database.owner.query(v7(), text, values);
const clock = createManualClock(NOW * 1000);
const open = (settings: object = {}) => {
  const own = {
    id: "corp",
    issuer: ISSUER,
    audience: "gesso",
    jwks_uri: `${ISSUER}/keys`,
    tenant_id: tenant,
    role: "developer",
  };
  const { OIDC_ISSUERS } = IssuersEnv.parse({ OIDC_ISSUERS: JSON.stringify([{ ...own, ...settings }]) });
  const get = async () => ({ status: 200, text: JSON.stringify({ keys: [jwk] }) });
  const issuers = createIssuers(OIDC_ISSUERS, { database: database.db, get, clock });
  return {
    ...issuers,
    authenticate: async (claims: object = {}, typ = "at+jwt") => {
      const base = { iss: ISSUER, aud: "gesso", sub: v7(), iat: NOW - 10, exp: NOW + 36_000 };
      const token = new SignJWT({ ...base, ...claims }).setProtectedHeader({ alg: "ES256", kid: "one", typ });
      return issuers.authenticate(ISSUER, await token.sign(privateKey));
    },
    isConfigured: (issuer: string) => issuers.authenticate(issuer, "") !== undefined,
  };
};
const invalid = { code: "invalid_token" };

describe("a token of an issuer", () => {
  it("stands for the user of that issuer, with the role and the limits of the tenant", async () => {
    expect(await open().authenticate({ sub: "ann", scope: "runs:read images:write" })).toEqual({
      ...{ tenant_id: tenant, user_id: "corp:ann", key_id: null, role: "developer", limits: {}, token: null },
      ancestors: [],
      ...{ scopes: ["runs:read", "images:write"], expires_at: null, tenant: { weight: 3, limits: { open_runs: 5 } } },
      grants_until: new Date(NOW * 1000 + 90 * 86_400_000),
    });
    const settings = { user_claim: "email", max_key_days: 2, role: "viewer", id: "other" };
    expect(await open(settings).authenticate({ email: "ann@x.example" })).toMatchObject({
      ...{ user_id: "other:ann@x.example", role: "viewer", grants_until: new Date(NOW * 1000 + 2 * 86_400_000) },
    });
  });

  it("is verified by the settings of its issuer, and by no other", async () => {
    await expect(open({ audience: "other" }).authenticate()).rejects.toMatchObject(invalid);
    await expect(open({ algorithms: ["RS256"] }).authenticate()).rejects.toMatchObject(invalid);
    await expect(open().authenticate({}, "JWT")).rejects.toMatchObject(invalid);
    await expect(open({ token_types: ["JWT"] }).authenticate({}, "JWT")).resolves.toBeDefined();
    expect(open().isConfigured("https://other.example")).toBe(false);
  });

  it("is accepted for an hour after it was issued, and a minute for the difference of clocks", async () => {
    await expect(open().authenticate({ iat: NOW - 3660 })).resolves.toBeDefined();
    await expect(open().authenticate({ iat: NOW - 3661 })).rejects.toMatchObject({ code: "token_expired" });
    await expect(open().authenticate({ exp: NOW - 59 })).resolves.toBeDefined();
    await expect(open({ max_token_minutes: 1 }).authenticate({ iat: NOW - 121 })).rejects.toMatchObject({
      code: "token_expired",
    });
  });

  it.each([undefined, 7, "", "a b", "é", "x".repeat(201)])("is refused for the user %j", async (sub) => {
    await expect(open().authenticate({ sub })).rejects.toMatchObject(invalid);
  });

  it("is accepted for a user id of 200 characters", async () => {
    expect((await open().authenticate({ sub: "x".repeat(200) }))?.user_id).toBe(`corp:${"x".repeat(200)}`);
  });

  it("belongs to the tenant that the settings have for its claim", async () => {
    const settings = { tenant_id: undefined, tenant_claim: "org", tenants: { acme: tenant, 7: tenant } };
    expect((await open(settings).authenticate({ org: "acme" }))?.tenant_id).toBe(tenant);
    for (const org of ["other", 7, ["acme"], undefined, "constructor", "__proto__", tenant])
      await expect(open(settings).authenticate({ org })).rejects.toMatchObject(invalid);
  });

  it("is refused if the tenant does not exist", async () => {
    await expect(open({ tenant_id: v7() }).authenticate()).rejects.toMatchObject(invalid);
  });

  it("is refused while the tenant is suspended", async () => {
    const suspended = v7();
    await query("insert into tenants (tenant_id, name, suspended_at) values ($1, 'x', now())", [suspended]);
    await expect(open({ tenant_id: suspended }).authenticate()).rejects.toMatchObject({ code: "tenant_suspended" });
  });
});

describe("a required claim", () => {
  const required = { required_claims: { groups: ["gesso", "admins"], hd: ["example.com"] } };
  const reasonOf = async (claims: object, settings: object = required) =>
    open(settings)
      .authenticate(claims)!
      .then(
        () => "accepted",
        (thrown) => thrown.details.claim ?? thrown.code,
      );

  it("admits a token with one of its values, alone or in a list, for each claim", async () => {
    expect(await reasonOf({ groups: ["staff", "gesso"], hd: "example.com" })).toBe("accepted");
    expect(await reasonOf({ groups: "admins", hd: ["example.com"] })).toBe("accepted");
    expect(await reasonOf({ email_verified: true }, { required_claims: { email_verified: ["true"] } })).toBe(
      "accepted",
    );
  });

  it("refuses a token without it, before its user becomes a member", async () => {
    const sub = v7();
    for (const [claims, missing] of [
      [{ hd: "example.com" }, "groups"],
      [{ groups: [], hd: "example.com" }, "groups"],
      [{ groups: ["gesso-admins"], hd: "example.com" }, "groups"],
      [{ groups: { gesso: true }, hd: "example.com" }, "groups"],
      [{ groups: "gesso" }, "hd"],
      [{ groups: "gesso", hd: "evil.example.com" }, "hd"],
    ] as const)
      expect([claims, await reasonOf({ ...claims, sub })]).toEqual([claims, missing]);
    expect(await query("select role from members where user_id = $1", [`corp:${sub}`])).toEqual([]);
  });

  it("is checked for a sign-in to the console", async () => {
    const issuers = open({ ...required, console: { client_id: "console" } });
    const own = issuers.findConsoleIssuer("corp")!;
    await expect(issuers.identify(own, { sub: v7(), groups: "gesso" })).rejects.toMatchObject({
      ...{ code: "permission_denied", details: { reason: "required_claim", claim: "hd" } },
    });
    expect(await issuers.identify(own, { sub: "ida", groups: "gesso", hd: "example.com" })).toMatchObject({
      user_id: "corp:ida",
    });
  });
});

describe("the scopes of a token", () => {
  it.each([
    ["runs:read keys:write", ["runs:read", "keys:write"]],
    [
      ["runs:read", "images:*"],
      ["runs:read", "images:*"],
    ],
    ["openid runs:read profile other:service:x", ["runs:read"]],
    ["tenants:* tenants:read runs:read", ["runs:read"]],
    ["runs:read runs:read", ["runs:read"]],
    [["runs:read images:write", 7], []],
    [7, []],
    [undefined, []],
  ])("are those of Gesso in its claim: %j", async (scope, scopes) => {
    expect((await open().authenticate({ scope }))?.scopes).toEqual(scopes);
  });

  it("are never the operator's, even if the settings name them", async () => {
    const settings = { scopes: ["runs:read", "tenants:*", "content:read"] };
    expect((await open(settings).authenticate({ scope: "content:read" }))?.scopes).toEqual(["runs:read"]);
  });

  it("begin with those that the settings grant, and are read from the claim that the settings name", async () => {
    const settings = { scopes: ["runs:read"], scope_claim: "permissions" };
    expect(
      (await open(settings).authenticate({ permissions: ["images:write", "runs:read"], scope: "*" }))?.scopes,
    ).toEqual([...["runs:read", "images:write"]]);
  });
});

describe("the members of a tenant", () => {
  const roleOf = async (sub: string) => {
    const rows = await query("select role from members where user_id = $1", [`corp:${sub}`]);
    return rows.map((row) => row.role);
  };

  it("join with their first token, with the role of the settings, and keep the role they have", async () => {
    const [sub, known] = [v7(), v7()];
    expect((await open({ role: "viewer" }).authenticate({ sub }))?.role).toBe("viewer");
    expect(await roleOf(sub)).toEqual(["viewer"]);
    await query("insert into members (tenant_id, user_id, role) values ($1, $2, 'owner')", [tenant, `corp:${known}`]);
    expect((await open({ role: "viewer" }).authenticate({ sub: known }))?.role).toBe("owner");
  });

  it("do not join if the settings have no role for them", async () => {
    const sub = v7();
    await expect(open({ role: undefined }).authenticate({ sub })).rejects.toMatchObject({
      ...{ code: "permission_denied", details: { reason: "not_a_member" } },
    });
    expect(await roleOf(sub)).toEqual([]);
  });

  it("that were removed do not join again", async () => {
    const sub = v7();
    await open().authenticate({ sub });
    await query("update members set removed_at = now() where user_id = $1", [`corp:${sub}`]);
    await expect(open().authenticate({ sub })).rejects.toMatchObject({
      ...{ code: "permission_denied", details: { reason: "not_a_member" } },
    });
  });

  it("are cached for seconds, each on its own, until the cache is cleared", async () => {
    const issuers = open();
    const [sub, other] = [v7(), v7()];
    await issuers.authenticate({ sub });
    await query("update members set role = 'viewer' where user_id = $1", [`corp:${sub}`]);
    expect((await issuers.authenticate({ sub }))?.role).toBe("developer");
    expect((await issuers.authenticate({ sub: other }))?.user_id).toBe(`corp:${other}`);
    issuers.invalidate();
    expect((await issuers.authenticate({ sub }))?.role).toBe("viewer");
  });
});

describe("a member who signs in to the console", () => {
  const client = { client_id: "console" };

  it("has the scopes of the console and of the claims, and never those of the operator", async () => {
    const issuers = open({ console: { ...client, scopes: ["images:write", "tenants:*"] }, scopes: ["runs:read"] });
    const identify = (claims: Record<string, unknown>) => issuers.identify(issuers.findConsoleIssuer("corp")!, claims);
    expect(await identify({ sub: "cleo", scope: "keys:read tenants:read" })).toEqual({
      ...{ tenant_id: tenant, user_id: "corp:cleo", scopes: ["images:write", "runs:read", "keys:read"] },
    });
    await expect(identify({ scope: "keys:read" })).rejects.toMatchObject(invalid);
    expect(open().findConsoleIssuer("corp")).toBeUndefined();
  });

  it("keeps no access after the issuer lost its client or the tenant", async () => {
    const member = { tenant_id: tenant, user_id: "corp:dora", scopes: ["*"] };
    const issuers = open({ console: client });
    await issuers.identify(issuers.findConsoleIssuer("corp")!, { sub: "dora" });
    expect(await issuers.findMember("corp", member)).toMatchObject({ ...member, role: "developer", key_id: null });
    expect(await open().findMember("corp", member)).toBeUndefined();
    expect(await open({ console: client, tenant_id: v7() }).findMember("corp", member)).toBeUndefined();
    expect(await issuers.findMember("other", member)).toBeUndefined();
  });
});
