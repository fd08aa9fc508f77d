// Access tokens of a real identity provider, whose keys change while its tokens are in use.
import { decodeJwt, decodeProtectedHeader } from "jose";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from "../access/identity-provider.ts";
import { newSigner, type Signer, signUnchecked } from "../corpora/tokens.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { statusAndCode } from "./run-requests.ts";

let environment: TestEnvironment;
let provider: IdentityProvider;
let [first, second] = [] as unknown as [Signer, Signer];
const tenant = v7();

beforeAll(async () => {
  [first, second] = [await newSigner("RS256", "first"), await newSigner("ES256", "second")];
  provider = await startIdentityProvider(["alice", "bob"], [first]);
  const issuer = { id: "corp", issuer: provider.issuer, audience: AUDIENCE, tenant_id: tenant, role: "developer" };
  environment = await startTestEnvironment({ env: { OIDC_ISSUERS: JSON.stringify([issuer]) } });
  await environment.query("insert into tenants (tenant_id, name) values ($1, 'Corp')", [tenant]);
});
afterAll(async () => {
  await environment?.stop();
  provider?.close();
});

const bearing = (key: string): ApiCaller => createHttpCaller({ url: environment.url, key });
const callerFor = async (name: string, scope = "images:write runs:read keys:write") =>
  bearing(await provider.tokenFor(name, scope));

describe("an access token of an identity provider", () => {
  it("[AUT-011] represents the tenant and the user that the settings derive from its claims", async () => {
    const token = await provider.tokenFor("alice", "images:write runs:read");
    expect([decodeProtectedHeader(token).typ, decodeJwt(token).aud]).toEqual(["at+jwt", AUDIENCE]);
    const { body, status } = await bearing(token).generate({
      prompt: "[sandbox:delay=0] a key",
      width: 64,
      height: 64,
    });
    expect(status).toBe(202);
    expect(body.user_id).toBe("corp:alice");
    const rows = await environment.query("select tenant_id, user_id from runs where run_id = $1", [body.run_id]);
    expect(rows).toEqual([{ tenant_id: tenant, user_id: "corp:alice" }]);
    expect((await bearing(token).get(`/runs/${body.run_id}`)).status).toBe(200);
    expect(statusAndCode(await createHttpCaller(environment).get(`/runs/${body.run_id}`))).toEqual([
      404,
      "run_not_found",
    ]);
  });

  it("[AUT-012] does what its scopes cover and nothing else", async () => {
    const reader = await callerFor("alice", "runs:read");
    expect((await reader.get("/runs")).status).toBe(200);
    const response = await reader.generate({ prompt: "x" });
    expect(response).toMatchObject({
      status: 403,
      body: { code: "insufficient_scope", details: { required: "images:write" } },
    });
    expect(statusAndCode(await reader.get("/tenants"))).toEqual([403, "insufficient_scope"]);
  });

  it("[AUT-013] with a wrong signature, issuer, audience or algorithm is refused", async () => {
    const token = await provider.tokenFor("alice", "runs:read");
    const [header, claims] = [decodeProtectedHeader(token), decodeJwt(token)];
    const wrong = {
      signature: signUnchecked(header, claims, await newSigner("RS256", first.kid)),
      issuer: signUnchecked(header, { ...claims, iss: "https://elsewhere.example" }, first),
      audience: signUnchecked(header, { ...claims, aud: "urn:another" }, first),
      algorithm: signUnchecked({ ...header, alg: "PS256" }, claims, first),
      none: `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url")}.${token.split(".")[1]}.`,
    };
    expect((await bearing(signUnchecked(header, claims, first)).get("/runs")).status).toBe(200);
    for (const [name, each] of Object.entries(wrong)) {
      const response = await bearing(each).get("/runs");
      expect([name, ...statusAndCode(response)]).toEqual([name, 401, "invalid_token"]);
      expect(response.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
    }
  });

  it("[AUT-014] that is expired is reported as expired, for every issuer", async () => {
    const token = await provider.tokenFor("alice", "runs:read");
    const now = Math.floor(Date.now() / 1000);
    const old = { ...decodeJwt(token), iat: now - 7200, exp: now - 90 };
    expect(statusAndCode(await bearing(signUnchecked(decodeProtectedHeader(token), old, first)).get("/runs"))).toEqual([
      ...[401, "token_expired"],
    ]);
    const minted = (await createHttpCaller(environment).post("/tokens", { ...TOKEN_REQUEST, expires_in: 1 })).body
      .access_token;
    expect((await bearing(minted).get("/runs")).status).toBe(200);
    // A few seconds are allowed to clocks that differ; after them the token is over.
    await expect
      .poll(async () => statusAndCode(await bearing(minted).get("/runs")), { interval: 500 })
      .toEqual([...[401, "token_expired"]]);
  });

  it("of a member who was removed or is read-only is rejected with the next request", async () => {
    const bob = await callerFor("bob");
    expect((await bob.get("/runs")).status).toBe(200);
    const owner = await createTestTenant(environment, { tenantId: tenant, user_id: "head" });
    const path = `/api/v1/members/${encodeURIComponent("corp:bob")}`;
    expect((await owner.caller.send("PATCH", path, { body: { role: "viewer" } })).status).toBe(200);
    expect(statusAndCode(await bob.generate({ prompt: "x" }))).toEqual([403, "permission_denied"]);
    expect((await owner.caller.send("DELETE", path)).status).toBe(200);
    expect(statusAndCode(await bob.get("/runs"))).toEqual([403, "permission_denied"]);
    expect(statusAndCode(await (await callerFor("bob")).get("/runs"))).toEqual([403, "permission_denied"]);
  });

  it("can create keys for its user, and tokens only through them", async () => {
    const alice = await callerFor("alice");
    const made = await alice.post("/keys", { name: "mine", scopes: ["runs:read"] });
    expect(made).toMatchObject({ status: 201, body: { user_id: "corp:alice" } });
    expect((await bearing(made.body.key).get("/runs")).status).toBe(200);
    expect(statusAndCode(await alice.post("/tokens", TOKEN_REQUEST))).toEqual([403, "insufficient_scope"]);
  });

  it("creates no key that lives longer than the operator allows, however it asks", async () => {
    const alice = await callerFor("alice");
    const until = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const { body: unlimited } = await alice.post("/keys", { name: "no expiry", scopes: ["runs:read", "keys:write"] });
    expect(Date.parse(unlimited.expires_at) - Date.now()).toBeLessThanOrEqual(90 * 86_400_000);
    const longer = await alice.post("/keys", { name: "a year", scopes: ["runs:read"], expires_at: until(365) });
    expect(statusAndCode(longer)).toEqual([403, "permission_denied"]);
    const { body: short } = await alice.post("/keys", { name: "a day", scopes: ["runs:read"], expires_at: until(1) });
    for (const expires_at of [null, until(365)]) {
      const changed = await alice.send("PATCH", `/api/v1/keys/${short.id}`, { body: { expires_at } });
      expect(statusAndCode(changed)).toEqual([403, "permission_denied"]);
    }
    const child = await bearing(unlimited.key).post("/keys", { name: "child", scopes: ["runs:read"] });
    expect([child.status, child.body.expires_at]).toEqual([201, unlimited.expires_at]);
  });

  it("is accepted within a minute after the provider has changed its keys; tokens of the old key stay valid while it is published", async () => {
    const before = await callerFor("alice");
    expect((await before.get("/runs")).status).toBe(200);
    await provider.rotate([second, first]);
    const token = await provider.tokenFor("alice", "runs:read");
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: "ES256", kid: "second" });
    await expect.poll(async () => (await bearing(token).get("/runs")).status, { interval: 1000 }).toBe(200);
    expect((await before.get("/runs")).status).toBe(200);
  });
});
