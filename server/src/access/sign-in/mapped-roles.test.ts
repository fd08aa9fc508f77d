// Claims of tokens and sign-ins that give roles, on a real database: which role, when it changes, and when it is gone.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createIssuers, IssuersEnv } from "../tokens/issuers.ts";

const NOW = 1_750_000_000;
const ISSUER = "https://id.example";
let [database, privateKey, jwk] = [] as unknown as [TestDatabase, CryptoKey, JWK];
const tenant = v7();
beforeAll(async () => {
  database = await startTestDatabase();
  const pair = await generateKeyPair("ES256");
  privateKey = pair.privateKey;
  jwk = { ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256" };
  await query("insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
  // So that the claims may take the role from every other owner.
  await query("insert into members (tenant_id, user_id, role) values ($1, 'operator', 'owner')", [tenant]);
});
afterAll(() => database?.stop());

const query = (text: string, values: unknown[] = []) => database.owner.query(v7(), text, values);
const clock = createManualClock(NOW * 1000);
/** One API process: it has its own cache of members. */
function open(own: object) {
  const issuer = { id: "corp", issuer: ISSUER, audience: "gesso", jwks_uri: `${ISSUER}/keys`, tenant_id: tenant };
  const { OIDC_ISSUERS } = IssuersEnv.parse({ OIDC_ISSUERS: JSON.stringify([{ ...issuer, ...own }]) });
  const get = async () => ({ status: 200, text: JSON.stringify({ keys: [jwk] }) });
  const issuers = createIssuers(OIDC_ISSUERS, { database: database.db, get, clock });
  return {
    ...issuers,
    authenticate: async (claims: object) => {
      const token = new SignJWT({ iss: ISSUER, aud: "gesso", exp: NOW + 36_000, ...claims });
      const signed = await token.setProtectedHeader({ alg: "ES256", kid: "one", typ: "at+jwt" }).sign(privateKey);
      return issuers.authenticate(ISSUER, signed)!;
    },
  };
}

describe("the role that claims give", () => {
  const roles = [
    { claim: "groups", values: ["gesso-users", "staff"], role: "viewer" },
    { claim: "groups", values: ["gesso-admins"], role: "owner" },
    { claim: "title", values: ["artist"], role: "developer" },
  ];
  const settings = { role: undefined, roles, console: { client_id: "console" } };
  /** The outcome of a new token of this person, issued this many seconds after the first of the test. */
  const roleOf = (sub: string, seconds: number, claims: object, own: object = {}) =>
    open({ ...settings, ...own })
      .authenticate({ sub, iat: NOW - 600 + seconds, ...claims })
      .then(
        ({ role }) => role,
        (thrown) => thrown.details.reason ?? thrown.code,
      );
  const rowOf = async (sub: string) =>
    (await query("select role, is_role_mapped, removed_at is not null as is_removed from members where user_id = $1", [
      `corp:${sub}`,
    ])) as object[];
  const entriesOf = (sub: string) =>
    query("select action, details from audit_log where user_id = $1 order by entry", [`corp:${sub}`]);
  /** `setAt` is null for a member of before the column. */
  const addByHand = (sub: string, role: string, setAt: Date | null) =>
    query("insert into members (tenant_id, user_id, role, role_set_at) values ($1, $2, $3, $4)", [
      ...[tenant, `corp:${sub}`, role, setAt],
    ]);
  const users = { groups: ["gesso-users"] };
  const admins = { groups: ["gesso-users", "gesso-admins"] };

  it("is the one with the most rights, whatever the order of the settings", async () => {
    expect(await roleOf(v7(), 0, { groups: "staff" })).toBe("viewer");
    expect(await roleOf(v7(), 0, { groups: "staff", title: "artist" })).toBe("developer");
    expect(await roleOf(v7(), 0, { ...admins, title: "artist" })).toBe("owner");
    expect(await roleOf(v7(), 0, { ...admins, title: "artist" }, { roles: roles.toReversed() })).toBe("owner");
  });

  it.each([{}, { groups: [] }, { groups: ["gesso-admins-x"] }, { groups: null }, { groups: { "gesso-admins": true } }])(
    "is none for the claims %j, which admit no person who is new",
    async (claims) => {
      const sub = v7();
      expect(await roleOf(sub, 0, claims)).toBe("not_a_member");
      expect(await rowOf(sub)).toEqual([]);
      expect(await roleOf(sub, 0, claims, { role: "developer" })).toBe("developer");
    },
  );

  it("has no value for a claim that the token lacks, whatever the settings accept", async () => {
    const own = { roles: [{ claim: "groups", values: ["undefined", "null"], role: "owner" }] };
    expect(await roleOf(v7(), 0, {}, own)).toBe("not_a_member");
    expect(await roleOf(v7(), 0, {}, { roles: [{ claim: "toString", values: ["x"], role: "owner" }] })).toBe(
      "not_a_member",
    );
  });

  it("follows the claims of each new token, and is gone with them", async () => {
    const sub = v7();
    expect(await roleOf(sub, 0, users)).toBe("viewer");
    expect(await roleOf(sub, 1, admins)).toBe("owner");
    expect(await roleOf(sub, 2, users)).toBe("viewer");
    expect(await roleOf(sub, 3, users)).toBe("viewer");
    expect(await roleOf(sub, 4, {})).toBe("not_a_member");
    expect(await rowOf(sub)).toEqual([{ role: "viewer", is_role_mapped: true, is_removed: true }]);
    expect(await roleOf(sub, 5, { title: "artist" })).toBe("developer");
    expect(await entriesOf(sub)).toEqual([
      { action: "members.join", details: { role: "viewer", issuer: "corp" } },
      { action: "members.update", details: { role: "owner", issuer: "corp" } },
      { action: "members.update", details: { role: "viewer", issuer: "corp" } },
      { action: "members.remove", details: { issuer: "corp" } },
      { action: "members.join", details: { role: "developer", issuer: "corp" } },
    ]);
  });

  it("falls back to the role of new members if the settings have one", async () => {
    const sub = v7();
    expect(await roleOf(sub, 0, admins, { role: "viewer" })).toBe("owner");
    expect(await roleOf(sub, 1, {}, { role: "viewer" })).toBe("viewer");
    expect(await rowOf(sub)).toMatchObject([{ role: "viewer", is_removed: false }]);
  });

  it("is not changed by an older token: neither one from before nor the same one once more", async () => {
    const sub = v7();
    expect(await roleOf(sub, 10, users)).toBe("viewer");
    expect(await roleOf(sub, 9, admins)).toBe("viewer");
    expect(await roleOf(sub, 11, {})).toBe("not_a_member");
    expect(await roleOf(sub, 10, users)).toBe("not_a_member");
    await query("update members set role = 'developer', removed_at = null where user_id = $1", [`corp:${sub}`]);
    expect(await roleOf(sub, 11, {})).toBe("developer");
  });

  it("replaces the one that an owner has set, which stays only where claims have never given one", async () => {
    const [named, unnamed] = [v7(), v7()];
    await addByHand(named, "developer", null);
    await addByHand(unnamed, "developer", new Date((NOW - 1000) * 1000));
    expect([await roleOf(named, 0, users), await roleOf(unnamed, 0, {})]).toEqual(["viewer", "developer"]);
    await query("update members set role = 'developer' where user_id = $1", [`corp:${named}`]);
    expect([await roleOf(named, 1, {}), await roleOf(unnamed, 1, {})]).toEqual(["not_a_member", "developer"]);
    expect(await rowOf(unnamed)).toEqual([{ role: "developer", is_role_mapped: false, is_removed: false }]);
    expect(await entriesOf(unnamed)).toEqual([]);
  });

  it("does not bring back a member whom an owner has removed", async () => {
    const sub = v7();
    await addByHand(sub, "viewer", null);
    await query("update members set removed_at = now() where user_id = $1", [`corp:${sub}`]);
    expect(await roleOf(sub, 0, admins)).toBe("not_a_member");
    expect(await rowOf(sub)).toEqual([{ role: "viewer", is_role_mapped: false, is_removed: true }]);
  });

  it("is decided anew with each sign-in to the console, and sessions and keys have it too", async () => {
    const [sub, issuers] = [v7(), open(settings)];
    const own = issuers.findConsoleIssuer("corp")!;
    const member = { tenant_id: tenant, user_id: `corp:${sub}`, scopes: ["*"] };
    await issuers.identify(own, { sub, ...admins });
    expect((await issuers.findMember("corp", member))?.role).toBe("owner");
    await clock.advance(1);
    await issuers.identify(own, { sub, ...users });
    issuers.invalidate();
    expect((await issuers.findMember("corp", member))?.role).toBe("viewer");
    await clock.advance(1);
    const refusal = { code: "permission_denied", details: { reason: "not_a_member" } };
    await expect(issuers.identify(own, { sub })).rejects.toMatchObject(refusal);
    issuers.invalidate();
    await expect(issuers.findMember("corp", member)).rejects.toMatchObject(refusal);
  });

  it("is given once by requests at the same time", async () => {
    for (const sub of Array.from({ length: 20 }, () => v7())) {
      const outcomes = await Promise.all([1, 2, 3, 4].map(async (second) => roleOf(sub, second, users)));
      expect(outcomes).toEqual(["viewer", "viewer", "viewer", "viewer"]);
      expect(await entriesOf(sub)).toHaveLength(1);
    }
  });

  it("is not taken from the last owner of a tenant, who is refused instead", async () => {
    const [alone, sub] = [v7(), v7()];
    await query("insert into tenants (tenant_id, name) values ($1, 'x')", [alone]);
    const own = { tenant_id: alone };
    expect(await roleOf(sub, 0, admins, own)).toBe("owner");
    expect(await roleOf(sub, 1, users, own)).toBe("last_owner");
    expect(await roleOf(sub, 1, {}, own)).toBe("last_owner");
    expect(await rowOf(sub)).toMatchObject([{ role: "owner", is_removed: false }]);
    expect(await roleOf(v7(), 2, admins, own)).toBe("owner");
    expect(await roleOf(sub, 3, users, own)).toBe("viewer");
  });
});
