// The token corpus against the real authentication: real keys, a real JWKS endpoint, a real database.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApiKeyLookup } from "../../src/access/api-key-lookup.ts";
import { createAuthenticator } from "../../src/access/authentication.ts";
import { createUnknownKeyLimit } from "../../src/access/limits/unknown-key-limit.ts";
import { createAccessTokens } from "../../src/access/tokens/access-tokens.ts";
import { createIssuers, IssuersEnv } from "../../src/access/tokens/issuers.ts";
import { trustedHttpGet } from "../../src/outbound/trusted-request.ts";
import { createTokenCorpus, newSigner, publicJwk, type Signer, type TokenCase } from "../corpora/tokens.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";

let database: TestDatabase;
let server: Server;
let corpus: { refused: TokenCase[]; accepted: TokenCase[] };
let credentials: ReturnType<typeof createAuthenticator>;
const published: Record<string, Signer[]> = {};
const input: string[] = [];
const [acme, beta] = [v7(), v7()];

beforeAll(async () => {
  database = await startTestDatabase();
  for (const id of [acme, beta]) {
    await database.db.query(`tenant.${id}`, "insert into tenants (tenant_id, name) values ($1, 'x')", [id]);
  }
  server = createServer(async (request, response) => {
    input.push(request.url ?? "");
    const keys = await Promise.all((published[request.url ?? ""] ?? []).map(publicJwk));
    response.writeHead(keys.length > 0 ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [issuer, otherIssuer] = ["https://id.acme.example", "https://id.beta.example"];
  const [rsa, curve, edwards, rotated, ofOther] = await Promise.all([
    newSigner("RS256", "one"),
    newSigner("ES256", "two"),
    newSigner("EdDSA", "three"),
    newSigner("RS256", "four"),
    newSigner("RS256", "five"),
  ]);
  published["/acme"] = [rsa, curve, edwards];
  published["/beta"] = [ofOther];
  const shape = { audience: "gesso", tenant_claim: "org", role: "developer" };
  const { OIDC_ISSUERS: issuers } = IssuersEnv.parse({
    OIDC_ISSUERS: JSON.stringify([
      { ...shape, id: "acme", issuer, jwks_uri: `${origin}/acme`, tenants: { acme } },
      { ...shape, id: "beta", issuer: otherIssuer, jwks_uri: `${origin}/beta`, tenants: { beta } },
    ]),
  });
  let now = Date.now();
  const environment = { database: database.db, get: trustedHttpGet, clock: { now: () => now } };
  const keys = createApiKeyLookup(database.db, environment.clock);
  const accessTokens = createAccessTokens({ secrets: [new Uint8Array(32)], keys, clock: environment.clock });
  const unknownKeys = createUnknownKeyLimit(0, { monotonic: () => now });
  credentials = createAuthenticator({ keys, accessTokens, issuers: createIssuers(issuers, environment), unknownKeys });

  const ground = { issuer, audience: "gesso", rsa, curve, edwards, rotated, canary: `${origin}/canary` };
  const corpusAt = () =>
    createTokenCorpus({ ...ground, now: Math.floor(now / 1000), other: { issuer: otherIssuer, signer: ofOther } });
  // The list is read once before the rotation, so that the new key is really met as an unknown one.
  await credentials.authenticate(requestWith((await corpusAt()).accepted[0]!.token));
  published["/acme"] = [rsa, curve, edwards, rotated];
  now += 31_000;
  corpus = await corpusAt();
});

afterAll(async () => {
  server?.close();
  await database?.stop();
});

const requestWith = (token: string) => ({
  headers: new Headers({ authorization: `Bearer ${token}` }),
  url: "/api/v1/runs",
  address: "127.0.0.1",
});
const verdict = ({ token }: TokenCase) =>
  credentials.authenticate(requestWith(token)).then(
    (caller) => caller,
    (thrown) => thrown.code as string,
  );

it("rejects each of forty with one of two codes, and sends no request to unknown hosts", async () => {
  expect(corpus.refused).toHaveLength(40);
  const verdicts = await Promise.all(corpus.refused.map(async (each) => [each.name, await verdict(each)]));
  const expected = corpus.refused.map(({ name }) => [
    name,
    name === "expired by 61 s" ? "token_expired" : "invalid_token",
  ]);
  expect(verdicts).toEqual(expected);
  expect(input.filter((path) => path.startsWith("/canary"))).toEqual([]);
});

it("accepts each of six as the tenant and the user of its issuer", async () => {
  expect(corpus.accepted).toHaveLength(6);
  for (const each of corpus.accepted) {
    expect([each.name, await verdict(each)]).toEqual([
      each.name,
      expect.objectContaining({
        tenant_id: acme,
        user_id: "acme:alice",
        role: "developer",
        scopes: ["runs:read"],
        key_id: null,
      }),
    ]);
  }
});

it("requests the keys of an issuer at most once in 30 s, whatever key IDs tokens name", async () => {
  const before = input.length;
  const [head = ""] = corpus.accepted[0]!.token.split(".");
  const header = JSON.parse(Buffer.from(head, "base64url").toString());
  const storm = Array.from({ length: 2000 }, (_, n) => {
    const strange = Buffer.from(JSON.stringify({ ...header, kid: `k${n}` })).toString("base64url");
    return verdict({ name: "", token: corpus.accepted[0]!.token.replace(head, strange) });
  });
  expect(new Set(await Promise.all(storm))).toEqual(new Set(["invalid_token"]));
  expect(input.length - before).toBeLessThanOrEqual(1);
});
