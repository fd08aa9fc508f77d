import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { createAccessTokens } from "./access-tokens.ts";

const NOW = 1_750_000_000_500;
const SECONDS = 1_750_000_000;
const secret = new Uint8Array(32).fill(7);
const key = createCallerRecord({ key_id: "key-1", user_id: "ann", scopes: ["images:*", "runs:read", "tenants:*"] });

function openTokens({ secrets = [secret] as [Uint8Array, ...Uint8Array[]], now = NOW, isRevoked = false } = {}) {
  const state = { now, isRevoked };
  const asked: unknown[] = [];
  const keys = {
    find: async (ref: unknown) => {
      asked.push(ref);
      return state.isRevoked ? undefined : key;
    },
    isKnown: () => false,
    invalidate: () => {},
  };
  return { tokens: createAccessTokens({ secrets, keys, clock: { now: () => state.now } }), state, asked };
}
const dependencies = (holder: typeof key) => ({
  ...{ secrets: [secret] as [Uint8Array], clock: { now: () => NOW } },
  keys: { find: async () => holder, isKnown: () => false, invalidate: () => {} },
});
const request = { end_user: "visitor-1", scopes: ["runs:read"], expires_in: 600 };

describe("issuing an access token", () => {
  it("signs who may do what, for how long and from where", async () => {
    const { tokens } = openTokens();
    const more = { origin: "https://app.example", max_spend: 1.5 };
    const token = await tokens.issue(key, { ...request, scopes: ["runs:read", "images:write"], ...more }, "id-1");
    expect(token).toMatchObject({ token_type: "Bearer", expires_in: 600, scope: "runs:read images:write" });
    expect(decodeProtectedHeader(token.access_token)).toEqual({ alg: "HS256", typ: "at+jwt" });
    expect(decodeJwt(token.access_token)).toEqual({
      ...{ iss: "urn:gesso", aud: "urn:gesso:api", sub: "ann", jti: "id-1", iat: SECONDS, exp: SECONDS + 600 },
      ...{ key_id: "key-1", scope: "runs:read images:write", end_user: "visitor-1", ...more },
    });
  });

  it.each(["tenants:*", "audit:read", "keys:write", "members:read", "webhooks:read", "usage:read", "*:read", "*"])(
    "grants no %s, whatever the key may do",
    async (scope) => {
      const owner = { ...key, scopes: ["*", "tenants:*"] };
      await expect(openTokens().tokens.issue(owner, { ...request, scopes: [scope] }, "id-1")).rejects.toMatchObject({
        ...{ code: "insufficient_scope", details: { required: [scope] } },
      });
    },
  );

  it("grants no scope that the key does not have", async () => {
    await expect(openTokens().tokens.issue(key, { ...request, scopes: ["keys:write"] }, "id-1")).rejects.toMatchObject({
      ...{ code: "insufficient_scope", details: { required: ["keys:write"] } },
    });
  });

  it("ends with the key at the latest", async () => {
    const expiring = { ...key, expires_at: new Date((SECONDS + 60) * 1000) };
    const token = await openTokens().tokens.issue(expiring, request, "id-1");
    expect([token.expires_in, decodeJwt(token.access_token).exp]).toEqual([60, SECONDS + 60]);
  });

  it.each([
    ["a token", { token: { token_id: "t", max_spend: null, end_user: "visitor-1" } }],
    ["an identity provider's token", { key_id: null }],
  ])("is refused to %s", async (_, caller) => {
    await expect(openTokens().tokens.issue({ ...key, ...caller }, request, "id-1")).rejects.toMatchObject({
      ...{ code: "permission_denied", details: { reason: "token" } },
    });
  });
});

describe("an access token", () => {
  const claims = {
    ...{ iss: "urn:gesso", aud: "urn:gesso:api", sub: "ann", jti: "id-1", iat: SECONDS, exp: SECONDS + 600 },
    ...{ key_id: "key-1", scope: "runs:read" },
  };
  const sign = (payload: object, header: object = {}) =>
    new SignJWT(payload as Record<string, unknown>)
      .setProtectedHeader({ alg: "HS256", typ: "at+jwt", ...header })
      .sign(secret);

  it("has at most the rights of its key, which is looked up each time", async () => {
    const { tokens, asked } = openTokens();
    const { access_token } = await tokens.issue(
      key,
      { ...request, scopes: ["images:read"], max_spend: 2, customer: "acme", tags: ["a"] },
      "id-1",
    );
    expect(await tokens.authenticate(access_token, null)).toEqual({
      ...key,
      ...{ scopes: ["images:read"], expires_at: new Date((SECONDS + 600) * 1000) },
      token: { token_id: "id-1", max_spend: 2, end_user: "visitor-1", customer: "acme", tags: ["a"] },
    });
    expect(asked).toEqual([{ key_id: "key-1" }]);
    const unlimited = await tokens.issue(key, request, "id-2");
    expect((await tokens.authenticate(unlimited.access_token, null)).token).toEqual({
      ...{ token_id: "id-2", max_spend: null, end_user: "visitor-1", customer: null, tags: [] },
    });
  });

  it("of an earlier version keeps no scope that tokens cannot have, and sees what was made with it alone", async () => {
    const { tokens } = openTokens();
    const old = { ...key, scopes: ["*", "tenants:*"] };
    const all = createAccessTokens(dependencies(old));
    const access_token = await sign({ ...claims, jti: "id-9", scope: "* tenants:* audit:read keys:write" });
    const caller = await all.authenticate(access_token, null);
    expect([...new Set(caller.scopes.map((scope) => scope.split(":")[0]))].sort()).toEqual([
      ...["catalogue", "events", "images", "models", "prompts", "provenance", "runs", "videos"],
    ]);
    expect(caller.token?.end_user).toBe("id-9");
    const narrow = await sign({ ...claims, scope: "runs:read audit:read" });
    expect((await tokens.authenticate(narrow, null)).scopes).toEqual(["runs:read"]);
  });

  it("is refused once its key is revoked", async () => {
    const { tokens, state } = openTokens();
    const { access_token } = await tokens.issue(key, request, "id-1");
    state.isRevoked = true;
    await expect(tokens.authenticate(access_token, null)).rejects.toMatchObject({ code: "invalid_token" });
  });

  it("is accepted for 5 s after its end, for different clocks, and no longer", async () => {
    const { tokens, state } = openTokens();
    const { access_token } = await tokens.issue(key, request, "id-1");
    state.now = (SECONDS + 604) * 1000;
    expect((await tokens.authenticate(access_token, null)).user_id).toBe("ann");
    state.now = (SECONDS + 606) * 1000;
    await expect(tokens.authenticate(access_token, null)).rejects.toMatchObject({ code: "token_expired" });
    state.now = (SECONDS - 4) * 1000;
    expect((await tokens.authenticate(access_token, null)).user_id).toBe("ann");
    state.now = (SECONDS - 6) * 1000;
    await expect(tokens.authenticate(access_token, null)).rejects.toMatchObject({ code: "invalid_token" });
  });

  it("that is bound to an origin is accepted from there only", async () => {
    const { tokens } = openTokens();
    const origin = "https://app.example";
    const bound = await tokens.issue(key, { ...request, origin }, "id-1");
    expect((await tokens.authenticate(bound.access_token, origin)).user_id).toBe("ann");
    for (const other of [null, "https://evil.example", `${origin}/`]) {
      await expect(tokens.authenticate(bound.access_token, other)).rejects.toMatchObject({
        ...{ code: "invalid_token", details: { reason: "origin" } },
      });
    }
    const unbound = await tokens.issue(key, request, "id-2");
    expect((await tokens.authenticate(unbound.access_token, "https://evil.example")).user_id).toBe("ann");
  });

  it("stays valid while its secret is rotated, and new ones are signed with the first", async () => {
    const other = new Uint8Array(32).fill(8);
    const { access_token } = await openTokens().tokens.issue(key, request, "id-1");
    const during = openTokens({ secrets: [other, secret] }).tokens;
    expect((await during.authenticate(access_token, null)).user_id).toBe("ann");
    const fresh = await during.issue(key, request, "id-2");
    expect((await openTokens({ secrets: [other] }).tokens.authenticate(fresh.access_token, null)).user_id).toBe("ann");
    await expect(openTokens({ secrets: [other] }).tokens.authenticate(access_token, null)).rejects.toMatchObject({
      code: "invalid_token",
    });
  });

  it("needs every claim", async () => {
    const { tokens } = openTokens();
    expect((await tokens.authenticate(await sign(claims), null)).user_id).toBe("ann");
    for (const name of Object.keys(claims)) {
      const { [name as keyof typeof claims]: _, ...rest } = claims;
      await expect(tokens.authenticate(await sign(rest), null), name).rejects.toMatchObject({ code: "invalid_token" });
    }
  });

  it.each([
    ["issuer", { iss: "urn:other" }, {}],
    ["audience", { aud: "urn:other" }, {}],
    ["type", {}, { typ: "JWT" }],
    ["type that only begins like it", {}, { typ: "at+jwtx" }],
    ["algorithm", {}, { alg: "HS512" }],
    ["kind, an ID token,", { nonce: "n" }, {}],
    ["kind, an ID token with at_hash,", { at_hash: "n" }, {}],
    ["kind, an ID token with c_hash,", { c_hash: "n" }, {}],
  ])("of another %s is refused", async (_, more, header) => {
    const { tokens } = openTokens({ secrets: [new Uint8Array(64).fill(7)] });
    const token = await new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: "HS256", typ: "at+jwt", ...header })
      .sign(new Uint8Array(64).fill(7));
    await expect(tokens.authenticate(token, null)).rejects.toMatchObject({ code: "invalid_token" });
  });

  it("may name its type as a media type", async () => {
    const token = await sign(claims, { typ: "application/at+jwt" });
    expect((await openTokens().tokens.authenticate(token, null)).user_id).toBe("ann");
    const other = await sign(claims, { typ: "xapplication/at+jwt" });
    await expect(openTokens().tokens.authenticate(other, null)).rejects.toMatchObject({ code: "invalid_token" });
  });
});
