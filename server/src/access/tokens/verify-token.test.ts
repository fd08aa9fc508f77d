import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type TokenVerificationRules, verifyToken } from "./verify-token.ts";

const NOW = 1_750_000_000;
const clock = { now: () => NOW * 1000 };
const [current, previous, unknown] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)) as [
  ...[Uint8Array, Uint8Array, Uint8Array],
];
const claims = { iss: "issuer", aud: "gesso", sub: "ann", iat: NOW - 10, exp: NOW + 600 };
const rules = (changes: Partial<TokenVerificationRules> = {}): TokenVerificationRules => ({
  ...{ issuer: "issuer", audience: "gesso", algorithms: ["HS256"], types: ["at+jwt"], required: ["sub"] },
  ...{ keys: [current, previous], skewSeconds: 60 },
  ...changes,
});
type Signing = { claims?: JWTPayload; without?: string; typ?: string | undefined; secret?: Uint8Array };
const sign = (signing: Signing = {}) => {
  const payload = { ...claims, ...signing.claims };
  const signed = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== signing.without));
  const typ = "typ" in signing ? signing.typ : "at+jwt";
  return new SignJWT(signed).setProtectedHeader({ alg: "HS256", ...(typ && { typ }) }).sign(signing.secret ?? current);
};
const verify = async (signing: Signing = {}, changes: Partial<TokenVerificationRules> = {}) =>
  verifyToken(await sign(signing), rules(changes), clock);
const codeOf = (result: Promise<unknown>) =>
  result.then(
    () => "accepted",
    (thrown) => thrown.code as string,
  );

describe("a token", () => {
  it("is accepted with the claims that its rules require, and returns them", async () => {
    expect(await verify()).toEqual(claims);
  });

  it.each(["exp", "iat", "sub", "iss", "aud"])("without %s is refused", async (without) => {
    expect(await codeOf(verify({ without }))).toBe("invalid_token");
  });

  it("needs only the claims that its rules require", async () => {
    expect(await codeOf(verify({ without: "sub" }, { required: [] }))).toBe("accepted");
  });

  it.each([
    ["another issuer", { iss: "other" }],
    ["another audience", { aud: "other" }],
    ["a time in the future", { nbf: NOW + 61 }],
  ])("with %s is refused", async (_, more) => {
    expect(await codeOf(verify({ claims: more }))).toBe("invalid_token");
  });

  it("with an algorithm that the issuer does not use is refused", async () => {
    expect(await codeOf(verify({}, { algorithms: ["HS512"] }))).toBe("invalid_token");
  });

  it("that expired is reported as expired, and any other fault as invalid, with its cause", async () => {
    await expect(verify({ claims: { exp: NOW - 61 } })).rejects.toMatchObject({
      ...{ code: "token_expired", cause: { code: "ERR_JWT_EXPIRED" } },
    });
    await expect(verify({ claims: { iss: "other" } })).rejects.toMatchObject({
      ...{ code: "invalid_token", cause: { code: "ERR_JWT_CLAIM_VALIDATION_FAILED" } },
    });
  });

  it("is accepted while the clocks differ by the tolerated seconds, and no longer", async () => {
    expect(await codeOf(verify({ claims: { exp: NOW - 59 } }))).toBe("accepted");
    expect(await codeOf(verify({ claims: { exp: NOW - 60 } }))).toBe("token_expired");
    expect(await codeOf(verify({ claims: { iat: NOW + 60 } }))).toBe("accepted");
    expect(await codeOf(verify({ claims: { iat: NOW + 61 } }))).toBe("invalid_token");
    expect(await codeOf(verify({ claims: { iat: NOW + 1 } }, { skewSeconds: 0 }))).toBe("invalid_token");
  });

  it("is refused after the longest age, however long it says that it is valid", async () => {
    const old = { claims: { iat: NOW - 3661 } };
    expect(await codeOf(verify(old, { maxAgeSeconds: 3600 }))).toBe("token_expired");
    expect(await codeOf(verify({ claims: { iat: NOW - 3660 } }, { maxAgeSeconds: 3600 }))).toBe("accepted");
    expect(await codeOf(verify(old))).toBe("accepted");
  });

  it.each([
    ["at+jwt", "accepted"],
    ["application/at+jwt", "accepted"],
    ["JWT", "invalid_token"],
    [undefined, "invalid_token"],
    ["x-application/at+jwt", "invalid_token"],
    ["at+application/jwt", "invalid_token"],
  ])("of the type %s is %s where only access tokens are", async (typ, code) => {
    expect(await codeOf(verify({ typ }))).toBe(code);
  });

  it("without a type counts as a JWT", async () => {
    expect(await codeOf(verify({ typ: undefined }, { types: ["JWT"] }))).toBe("accepted");
  });

  it.each(["nonce", "at_hash", "c_hash"])("with %s is an ID token and refused, whatever its type", async (name) => {
    for (const typ of ["at+jwt", "JWT"]) {
      const types = { types: ["at+jwt", "JWT"] };
      const thrown = await verify({ claims: { [name]: "" }, typ }, types).catch((fault) => fault);
      expect([thrown.code, thrown.cause]).toEqual(["invalid_token", undefined]);
    }
  });
});

describe("the secrets of a token", () => {
  it("can be rotated: any of them signs, and no other", async () => {
    const keys: [Uint8Array, ...Uint8Array[]] = [new Uint8Array(32).fill(9), current, previous];
    const results = [current, previous, unknown].map((secret) => codeOf(verify({ secret }, { keys })));
    expect(await Promise.all(results)).toEqual(["accepted", "accepted", "invalid_token"]);
    await expect(verify({ secret: previous }, { keys: [current] })).rejects.toMatchObject({
      ...{ code: "invalid_token", cause: { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" } },
    });
  });

  it("do not excuse other faults of the token", async () => {
    for (const secret of [current, previous])
      expect(await codeOf(verify({ secret, claims: { exp: NOW - 100 } }))).toBe("token_expired");
  });
});

it("a token of an issuer with public keys is verified with the key that it names", async () => {
  const [one, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(one.publicKey)), kid: "one", alg: "ES256" }] });
  const signed = (privateKey: CryptoKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one", typ: "at+jwt" }).sign(privateKey);
  const verifyWith = async (privateKey: CryptoKey) =>
    verifyToken(await signed(privateKey), rules({ keys, algorithms: ["ES256"] }), clock);
  expect(await verifyWith(one.privateKey)).toEqual(claims);
  expect(await codeOf(verifyWith(other.privateKey))).toBe("invalid_token");
});
