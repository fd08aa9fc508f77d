// How long a token of an identity provider works after its user was removed, and at most.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createIssuers, type Issuers, IssuersEnv } from "../../src/access/tokens/issuers.ts";
import { newSigner, publicJwk, type Signer, signUnchecked } from "../corpora/tokens.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";

const ISSUER = "https://id.example.com";
const tenant_id = v7();
let database: TestDatabase;
let signer: Signer;
let now = Date.now();

beforeAll(async () => {
  database = await startTestDatabase();
  signer = await newSigner("ES256", "one");
  await database.owner.query("tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant_id]);
});
afterAll(() => database?.stop());

/** Each is what one API process has: its own cache of members. */
function createProcess(settings: object = {}): Issuers {
  const own = { id: "corp", issuer: ISSUER, audience: "gesso", jwks_uri: `${ISSUER}/keys`, tenant_id };
  const issuer = { ...own, role: "developer", ...settings };
  const { OIDC_ISSUERS } = IssuersEnv.parse({ OIDC_ISSUERS: JSON.stringify([issuer]) });
  const get = async () => ({ status: 200, text: JSON.stringify({ keys: [await publicJwk(signer)] }) });
  return createIssuers(OIDC_ISSUERS, { database: database.db, get, clock: { now: () => now } });
}

const tokenOf = (sub: string, lifetimeSeconds: number) => {
  const iat = Math.floor(now / 1000);
  const claims = { iss: ISSUER, aud: "gesso", sub, iat, exp: iat + lifetimeSeconds, scope: "runs:read" };
  return signUnchecked({ alg: "ES256", kid: "one", typ: "at+jwt" }, claims, signer);
};
const outcome = (issuers: Issuers, token: string): Promise<string> =>
  issuers.authenticate(ISSUER, token)!.then(
    ({ role }) => role,
    (thrown) => thrown.code,
  );
const setMember = (columns: string) =>
  database.owner.query(`set ${columns}`, `update members set ${columns} where tenant_id = $1`, [tenant_id]);

it("a member whom another process removed or demoted loses access within 5 s", async () => {
  const issuers = createProcess();
  const token = tokenOf("alice", 3600);
  expect(await outcome(issuers, token)).toBe("developer");
  await setMember("role = 'viewer'");
  now += 4999;
  expect(await outcome(issuers, token)).toBe("viewer");
  await setMember("removed_at = now()");
  now += 4999;
  expect(await outcome(issuers, token)).toBe("permission_denied");
});

it("a token is refused 60 minutes after it was issued, even if it is valid for a day", async () => {
  const [usual, longer] = [createProcess(), createProcess({ max_token_minutes: 120 })];
  const token = tokenOf("bob", 86_400);
  const minute = 60_000;
  expect(await outcome(usual, token)).toBe("developer");
  now += 60 * minute;
  expect(await outcome(usual, token)).toBe("developer");
  // The clocks of issuer and server may differ by a minute.
  now += 1.1 * minute;
  expect([await outcome(usual, token), await outcome(longer, token)]).toEqual(["token_expired", "developer"]);
  now += 60 * minute;
  expect(await outcome(longer, token)).toBe("token_expired");
});
