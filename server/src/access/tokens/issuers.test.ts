import { expect, it } from "vitest";
import { operations } from "../../operations/all.ts";
import { IssuersEnv } from "./issuers.ts";

const TENANT = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const parse = (urls: { issuer: string; jwks_uri?: string }) =>
  IssuersEnv.safeParse({
    OIDC_ISSUERS: JSON.stringify([{ id: "corp", audience: "gesso", tenant_id: TENANT, ...urls }]),
  });

it("accepts issuers and keys over https, and over http only on this machine", () => {
  expect(parse({ issuer: "https://auth.example.com" }).success).toBe(true);
  expect(parse({ issuer: "http://127.0.0.1:8080", jwks_uri: "http://localhost:8080/keys" }).success).toBe(true);
  for (const urls of [
    { issuer: "http://auth.example.com" },
    { issuer: "http://127.0.0.1.example.com" },
    { issuer: "https://auth.example.com", jwks_uri: "http://auth.example.com/keys" },
  ]) {
    const { success, error } = parse(urls);
    expect([urls, success]).toEqual([urls, false]);
    expect(error!.issues[0]!.message).toContain("must be an https URL");
  }
});

it("accepts no issuer at the metadata address of a cloud, and none from a request", () => {
  for (const issuer of ["http://169.254.169.254", "http://169.254.169.254/latest", "http://[fd00:ec2::254]"])
    expect([issuer, parse({ issuer }).success]).toEqual([issuer, false]);
  const fields = operations.flatMap((operation) => Object.keys(operation.input.shape));
  expect(fields.length).toBeGreaterThan(100);
  expect(fields.filter((name) => /issuer|jwks|oidc|discovery/i.test(name))).toEqual([]);
});

const parseList = (...issuers: object[]) => IssuersEnv.safeParse({ OIDC_ISSUERS: JSON.stringify(issuers) });
const corp = { id: "corp", issuer: "https://auth.example.com", audience: "gesso", tenant_id: TENANT };

it("has defaults for what the settings of an issuer leave out", () => {
  expect(parseList(corp).data!.OIDC_ISSUERS).toEqual([
    {
      ...corp,
      ...{ algorithms: ["RS256", "ES256", "EdDSA"], token_types: ["at+jwt"], user_claim: "sub", scope_claim: "scope" },
      ...{ scopes: [], required_claims: {}, role: null, roles: [], max_key_days: 90, max_token_minutes: 60 },
    },
  ]);
  expect(IssuersEnv.parse({})).toEqual({ OIDC_ISSUERS: [] });
});

it.each<[object, string]>([
  [{ id: "Corp" }, "id"],
  [{ id: "-corp" }, "id"],
  [{ id: "corp_1" }, "id"],
  [{ id: "c".repeat(33) }, "id"],
  [{ id: "" }, "id"],
  [{ issuer: "auth" }, "issuer"],
  [{ audience: "" }, "audience"],
  [{ algorithms: ["HS256"] }, "algorithms"],
  [{ algorithms: [] }, "algorithms"],
  [{ token_types: ["ID"] }, "token_types"],
  [{ token_types: [] }, "token_types"],
  [{ tenant_id: "acme" }, "tenant_id"],
  [{ scopes: ["everything"] }, "scopes"],
  [{ required_claims: { groups: "gesso" } }, "required_claims"],
  [{ required_claims: { groups: [] } }, "required_claims"],
  [{ console: { client_id: "c", session_hours: 169 } }, "session_hours"],
  [{ role: "admin" }, "role"],
  [{ roles: { groups: "owner" } }, "roles"],
  [{ roles: [{ claim: "groups", values: ["a"], role: "admin" }] }, "roles"],
  [{ roles: [{ claim: "groups", values: ["a"], role: null }] }, "roles"],
  [{ roles: [{ claim: "groups", values: [], role: "owner" }] }, "roles"],
  [{ roles: [{ claim: "groups", values: "a", role: "owner" }] }, "roles"],
  [{ roles: [{ claim: "", values: ["a"], role: "owner" }] }, "roles"],
  [{ roles: [{ claim: "groups", values: ["a"], role: "owner", tenant: "acme" }] }, "roles"],
  [{ max_key_days: 0 }, "max_key_days"],
  [{ max_key_days: 3651 }, "max_key_days"],
  [{ max_token_minutes: 0 }, "max_token_minutes"],
  [{ max_token_minutes: 1441 }, "max_token_minutes"],
  [{ no_such_setting: 1 }, "no_such_setting"],
  [{ tenant_id: undefined }, "either tenant_id, or tenant_claim with tenants"],
  [{ tenant_claim: "org", tenants: { acme: TENANT } }, "either tenant_id, or tenant_claim with tenants"],
  [{ tenant_id: undefined, tenant_claim: "org" }, "either tenant_id, or tenant_claim with tenants"],
  [{ tenant_id: undefined, tenants: { acme: TENANT } }, "either tenant_id, or tenant_claim with tenants"],
])("refuses settings of an issuer that are wrong, and names what is: %j", (wrong, name) => {
  const { success, error } = parseList({ ...corp, ...wrong });
  expect(success).toBe(false);
  expect(error!.issues.map((issue) => issue.message).join()).toMatch(/^is not a list of issuers: /);
  expect(error!.issues[0]!.message).toContain(name);
});

it.each([
  { id: "c" },
  { id: "0-a" },
  { id: "c".repeat(32) },
  { role: null },
  { max_key_days: 3650, max_token_minutes: 1440 },
  { tenant_id: undefined, tenant_claim: "org", tenants: { acme: TENANT } },
])("accepts settings of an issuer within their bounds: %j", (right) => {
  expect(parseList({ ...corp, ...right }).success).toBe(true);
});

it("refuses two issuers with the same id or URL, and text that is no list", () => {
  const other = { ...corp, id: "other", issuer: "https://other.example.com" };
  expect(parseList(corp, other).success).toBe(true);
  const messageOf = (result: ReturnType<typeof parseList>) => result.error?.issues[0]?.message;
  expect(messageOf(parseList(corp, { ...other, id: "corp" }))).toContain("two issuers have the same id");
  expect(messageOf(parseList(corp, { ...other, issuer: corp.issuer }))).toContain("two issuers have the same issuer");
  expect(messageOf(IssuersEnv.safeParse({ OIDC_ISSUERS: "[" }))).toMatch(/^is not a list of issuers: .*JSON/);
  expect(messageOf(IssuersEnv.safeParse({ OIDC_ISSUERS: "{}" }))).toMatch(/^is not a list of issuers: /);
});
