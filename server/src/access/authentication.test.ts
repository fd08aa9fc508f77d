import { describe, expect, it } from "vitest";
import { generateApiKey, hashApiKey } from "./api-key.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import { AccessEnv, createAuthenticator } from "./authentication.ts";
import { createUnknownKeyLimit } from "./limits/unknown-key-limit.ts";

const credentials = (key: string, address: string) => ({
  headers: new Headers({ "x-api-key": key }),
  url: "/api/v1/runs",
  address,
});

it("looks up no further unknown keys of an address above the limit, and serves keys in use there", async () => {
  let lookups = 0;
  let isInUse = false;
  const keys: ApiKeyLookup = {
    find: async () => {
      lookups++;
      return isInUse ? ({ key_id: "k" } as never) : undefined;
    },
    isKnown: () => isInUse,
    invalidate: () => {},
  };
  const unknownKeys = createUnknownKeyLimit(100, { monotonic: () => 0 });
  const authenticator = createAuthenticator({ keys, unknownKeys, accessTokens: {} as never, issuers: {} as never });
  const codes: Record<string, number> = {};
  for (let n = 0; n < 10_000; n++) {
    const code = await authenticator
      .authenticate(credentials(generateApiKey(), "203.0.113.9"))
      .catch((thrown) => thrown.code);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  expect(codes).toEqual({ invalid_api_key: 100, rate_limited: 9900 });
  expect(lookups).toBe(100);
  await expect(authenticator.authenticate(credentials(generateApiKey(), "198.51.100.7"))).rejects.toMatchObject({
    code: "invalid_api_key",
  });
  isInUse = true;
  expect(await authenticator.authenticate(credentials(generateApiKey(), "203.0.113.9"))).toEqual({ key_id: "k" });
});

it("looks up no key with a wrong checksum, and accepts no random key with a right one", async () => {
  const digests = new Set(Array.from({ length: 1000 }, () => hashApiKey(generateApiKey()).toString("hex")));
  let lookups = 0;
  const keys: ApiKeyLookup = {
    find: async (ref) => {
      lookups++;
      return "digest" in ref && digests.has(ref.digest.toString("hex")) ? ({ key_id: "k" } as never) : undefined;
    },
    isKnown: () => false,
    invalidate: () => {},
  };
  const unknownKeys = createUnknownKeyLimit(0, { monotonic: () => 0 });
  const authenticator = createAuthenticator({ keys, unknownKeys, accessTokens: {} as never, issuers: {} as never });
  const codes = new Set<string>();
  const attempt = (key: string) =>
    authenticator.authenticate(credentials(key, "203.0.113.9")).then(
      () => codes.add("accepted"),
      (thrown) => codes.add(thrown.code),
    );
  for (let n = 0; n < 2000; n++) {
    const key = generateApiKey();
    const at = 4 + (n % 46);
    await attempt(`${key.slice(0, at)}${key[at] === "0" ? "1" : "0"}${key.slice(at + 1)}`);
  }
  expect([lookups, [...codes]]).toEqual([0, ["invalid_api_key"]]);
  for (let n = 0; n < 2000; n++) await attempt(generateApiKey());
  expect([lookups, [...codes]]).toEqual([2000, ["invalid_api_key"]]);
});

describe("credentials", () => {
  const calls: unknown[] = [];
  const known = generateApiKey();
  const authenticator = createAuthenticator({
    keys: {
      find: async (ref) => {
        calls.push("digest" in ref ? ref.digest.toString("hex") : ref);
        return "digest" in ref && ref.digest.equals(hashApiKey(known)) ? ({ key_id: "known" } as never) : undefined;
      },
      isKnown: () => false,
      invalidate: () => {},
    },
    unknownKeys: createUnknownKeyLimit(0, { monotonic: () => 0 }),
    accessTokens: { authenticate: async (_: string, origin: string | null) => ({ user_id: "own", origin }) } as never,
    issuers: {
      authenticate: (issuer: string) => (issuer === "https://id.example" ? Promise.resolve({ issuer }) : undefined),
    } as never,
  });
  const authenticate = (headers: Record<string, string>, url = "/api/v1/runs") =>
    authenticator.authenticate({ headers: new Headers(headers), url, address: "203.0.113.9" });
  const tokenOf = (iss: string) =>
    [{ alg: "RS256" }, { iss }, "s"].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

  it.each([
    [{ authorization: `Bearer ${known}` }],
    [{ authorization: `bearer   ${known}` }],
    [{ "x-api-key": known }],
    [{ authorization: `Bearer ${known}`, "x-api-key": known }],
    [{ authorization: "Basic eDp4", "x-api-key": known }],
  ])("are an API key in a header: %#", async (headers) =>
    expect(await authenticate(headers as Record<string, string>)).toEqual({ key_id: "known" }),
  );

  it.each([
    ["authentication_required", {}],
    ["invalid_api_key", { authorization: "Basic eDp4" }],
    ["invalid_api_key", { authorization: `Bearer ${known} x` }],
    ["invalid_api_key", { authorization: `xBearer ${known}` }],
    ["invalid_api_key", { authorization: `Bearer${known}` }],
    ["invalid_api_key", { authorization: "Bearer" }],
    ["invalid_api_key", { authorization: "Bearer gsk_x" }],
    ["ambiguous_credentials", { authorization: `Bearer ${known}`, "x-api-key": generateApiKey() }],
    ["invalid_token", { authorization: "Bearer a.b.c" }],
    ["invalid_token", { authorization: `Bearer ${tokenOf("https://unknown.example")}` }],
  ])("are refused as %s without a lookup: %#", async (code, headers) => {
    calls.length = 0;
    await expect(authenticate(headers as Record<string, string>)).rejects.toMatchObject({ code });
    expect(calls).toEqual([]);
  });

  it("that are a token are verified by its issuer", async () => {
    const origin = "https://app.example";
    expect(await authenticate({ authorization: `Bearer ${tokenOf("https://id.example")}` })).toEqual({
      issuer: "https://id.example",
    });
    expect(await authenticate({ authorization: `Bearer ${tokenOf("urn:gesso")}`, origin })).toEqual({
      ...{ user_id: "own", origin },
    });
  });

  it.each(["api_key", "apikey", "access_token", "token", "key"])("are refused in the URL: %s", async (name) => {
    for (const url of [`/api/v1/runs?limit=1&${name}=x`, `/api/v1/runs?${name}=x`]) {
      const message = expect.stringContaining("Authorization header");
      await expect(authenticate({ "x-api-key": known }, url)).rejects.toMatchObject({
        ...{ code: "validation_error", details: { errors: [{ path: `/${name}`, code: "unknown_field", message }] } },
      });
    }
    expect(await authenticate({ "x-api-key": known }, `/api/v1/${name}`)).toEqual({ key_id: "known" });
  });

  it("may have any other query beside them", async () => {
    expect(await authenticate({ "x-api-key": known }, "/api/v1/runs?limit=1&keys=2")).toEqual({ key_id: "known" });
  });
});

it("names the limit of unknown keys and the seconds to wait", async () => {
  const keys: ApiKeyLookup = { find: async () => undefined, isKnown: () => false, invalidate: () => {} };
  const unknownKeys = createUnknownKeyLimit(1, { monotonic: () => 0 });
  const authenticator = createAuthenticator({ keys, unknownKeys, accessTokens: {} as never, issuers: {} as never });
  const attempt = () => authenticator.authenticate(credentials(generateApiKey(), "203.0.113.9"));
  await expect(attempt()).rejects.toMatchObject({ code: "invalid_api_key" });
  await expect(attempt()).rejects.toMatchObject({ details: { policy: "unknown-keys", retry_after: 60 } });
});

it("counts no key that was valid before as unknown", async () => {
  let isKnown = true;
  const keys: ApiKeyLookup = { find: async () => undefined, isKnown: () => isKnown, invalidate: () => {} };
  const unknownKeys = createUnknownKeyLimit(1, { monotonic: () => 0 });
  const authenticator = createAuthenticator({ keys, unknownKeys, accessTokens: {} as never, issuers: {} as never });
  const attempt = () => authenticator.authenticate(credentials(generateApiKey(), "203.0.113.9"));
  for (let n = 0; n < 3; n++) await expect(attempt()).rejects.toMatchObject({ code: "invalid_api_key" });
  isKnown = false;
  await expect(attempt()).rejects.toMatchObject({ code: "invalid_api_key" });
  await expect(attempt()).rejects.toMatchObject({ code: "rate_limited" });
});

it("the key in the settings must have the syntax of one", () => {
  const env = { OIDC_ISSUERS: "[]" };
  expect(AccessEnv.safeParse({ ...env, GESSO_API_KEY: generateApiKey() }).success).toBe(true);
  expect(AccessEnv.safeParse(env).success).toBe(true);
  expect(AccessEnv.safeParse({ ...env, GESSO_API_KEY: "gsk_x" }).error?.issues[0]?.message).toContain("gesso dev");
});
