import { expect, it } from "vitest";
import { operations } from "../operations/all.ts";
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
