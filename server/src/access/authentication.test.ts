import { expect, it } from "vitest";
import { generateApiKey, hashApiKey } from "./api-key.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import { createAuthenticator } from "./authentication.ts";
import { createUnknownKeyLimit } from "./unknown-key-limit.ts";

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
    isCached: () => isInUse,
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
    isCached: () => false,
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
