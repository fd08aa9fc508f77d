// Tokens that must be rejected and tokens that must be accepted, each with a name, created with fresh keys on each
// call: attacks on a service that trusts one issuer, and legitimate tokens.
import { createHmac, createSign, type KeyObject, randomBytes, sign } from "node:crypto";
import { CompactEncrypt, exportJWK, exportSPKI, generateKeyPair, type JWK } from "jose";

export type Signer = { kid: string; alg: "RS256" | "ES256" | "EdDSA"; publicKey: CryptoKey; privateKey: CryptoKey };
export type TokenCase = { name: string; token: string };

export const newSigner = async (alg: Signer["alg"], kid: string): Promise<Signer> => ({
  ...{ alg, kid },
  ...(await generateKeyPair(alg, { extractable: true })),
});

export const publicJwk = async ({ publicKey, kid, alg }: Signer): Promise<JWK> => ({
  ...(await exportJWK(publicKey)),
  ...{ kid, alg, use: "sig" },
});

const base64 = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const { KeyObject: keyOf } = await import("node:crypto");
const nodeKey = (key: CryptoKey): KeyObject => keyOf.from(key);

function signature(alg: string, input: string, key: CryptoKey): string {
  const own = nodeKey(key);
  if (alg === "EdDSA") return sign(null, Buffer.from(input), own).toString("base64url");
  const ofCurve = alg === "ES256" ? ({ dsaEncoding: "ieee-p1363" } as const) : {};
  return createSign("sha256")
    .update(input)
    .sign({ key: own, ...ofCurve }, "base64url");
}

/** Signs whatever it is given, also what no honest library would. */
export function signUnchecked(header: unknown, payload: unknown, signer: Signer): string {
  const input = `${base64(header)}.${base64(payload)}`;
  return `${input}.${signature(signer.alg, input, signer.privateKey)}`;
}

const unsigned = (header: unknown, payload: unknown, tail = "") => `${base64(header)}.${base64(payload)}.${tail}`;
const hmac = (header: unknown, payload: unknown, secret: string | Buffer) => {
  const input = `${base64(header)}.${base64(payload)}`;
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
};

export type TokenCorpusOptions = {
  issuer: string;
  audience: string;
  /** In seconds. */
  now: number;
  /** Keys that the issuer publishes. */
  rsa: Signer;
  curve: Signer;
  edwards: Signer;
  /** A key that replaced another after the service had read the key set. */
  rotated: Signer;
  /** Another issuer that the service trusts for another tenant. */
  other: { issuer: string; signer: Signer };
  /** No request may ever be sent here. */
  canary: string;
};

export async function createTokenCorpus(
  ground: TokenCorpusOptions,
): Promise<{ refused: TokenCase[]; accepted: TokenCase[] }> {
  const { issuer, audience, now, rsa, curve, edwards, rotated, other, canary } = ground;
  const header = { alg: "RS256", kid: rsa.kid, typ: "at+jwt" };
  const claims = {
    ...{ iss: issuer, aud: audience, sub: "alice", iat: now - 10, exp: now + 600 },
    ...{ scope: "runs:read", org: "acme" },
  };
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
  const good = signUnchecked(header, claims, rsa);
  const [head = "", body = "", mark = ""] = good.split(".");
  const withHeader = (more: object) => signUnchecked({ ...header, ...more }, claims, rsa);
  const withClaims = (more: object) => signUnchecked(header, { ...claims, ...more }, rsa);
  const unknownKey = await newSigner("RS256", rsa.kid);
  const unknownJwk = await publicJwk(unknownKey);
  const pem = await exportSPKI(rsa.publicKey);
  const der = nodeKey(rsa.publicKey).export({ type: "spki", format: "der" });
  const { n = "" } = await exportJWK(rsa.publicKey);
  const flipped = Buffer.from(mark, "base64url");
  flipped[7]! ^= 1;
  const named = (cases: Record<string, string>): TokenCase[] =>
    Object.entries(cases).map(([name, token]) => ({ name, token }));

  const refused = named({
    "alg none": unsigned({ ...header, alg: "none" }, claims),
    "alg None": unsigned({ ...header, alg: "None" }, claims, mark),
    "alg NONE": unsigned({ ...header, alg: "NONE" }, claims, mark),
    "alg nOnE": unsigned({ ...header, alg: "nOnE" }, claims, mark),
    "alg empty": signUnchecked({ ...header, alg: "" }, claims, rsa),
    "alg missing": signUnchecked({ kid: rsa.kid, typ: "at+jwt" }, claims, rsa),
    "HS256 with the public key as PEM": hmac({ ...header, alg: "HS256" }, claims, pem),
    "HS256 with the public key as DER": hmac({ ...header, alg: "HS256" }, claims, der),
    "HS256 with the modulus of the public key": hmac({ ...header, alg: "HS256" }, claims, n),
    "RS256 named, ES256 key": signUnchecked({ ...header, kid: curve.kid }, claims, curve),
    "unknown alg": withHeader({ alg: "XS999" }),
    "kid is a path": signUnchecked({ ...header, kid: "../../../../dev/null" }, claims, unknownKey),
    "kid is SQL": signUnchecked({ ...header, kid: "' or 1=1 --" }, claims, unknownKey),
    "kid is an address": signUnchecked({ ...header, kid: `${canary}/kid` }, claims, unknownKey),
    "kid of 10 kB": signUnchecked({ ...header, kid: "k".repeat(10_240) }, claims, unknownKey),
    "kid is a list": signUnchecked({ ...header, kid: [rsa.kid] }, claims, rsa),
    "jku to an unknown host": signUnchecked({ ...header, jku: `${canary}/jwks` }, claims, unknownKey),
    "x5u to an unknown host": signUnchecked({ ...header, x5u: `${canary}/x5u` }, claims, unknownKey),
    "jwk of an unknown key": signUnchecked({ ...header, jwk: unknownJwk }, claims, unknownKey),
    "x5c of an unknown key": signUnchecked({ ...header, x5c: [der.toString("base64")] }, claims, unknownKey),
    "crit unknown": withHeader({ crit: ["urn:example:exp"], "urn:example:exp": 1 }),
    "signature empty": `${head}.${body}.`,
    "signature truncated": `${head}.${body}.${mark.slice(0, -8)}`,
    "signature with one bit flipped": `${head}.${body}.${flipped.toString("base64url")}`,
    "signature from another token": `${head}.${body}.${signUnchecked(header, { ...claims, sub: "bob" }, rsa).split(".")[2]}`,
    "payload swapped": `${head}.${base64({ ...claims, sub: "root" })}.${mark}`,
    "expired by 61 s": withClaims({ exp: now - 61 }),
    "nbf in 61 s": withClaims({ nbf: now + 61 }),
    "iat in an hour": withClaims({ iat: now + 3600 }),
    "exp missing": signUnchecked(header, without("exp"), rsa),
    "aud missing": signUnchecked(header, without("aud"), rsa),
    "aud wrong": withClaims({ aud: "another-service" }),
    "aud a list without us": withClaims({ aud: ["one", "two"] }),
    "iss wrong": withClaims({ iss: "https://evil.example" }),
    "iss with a slash more": withClaims({ iss: `${issuer}/` }),
    "an ID token": signUnchecked({ ...header, typ: "JWT" }, { ...claims, nonce: "n-0S6" }, rsa),
    "another tenant's issuer": signUnchecked(
      { ...header, kid: other.signer.kid },
      { ...claims, iss: other.issuer, org: "acme" },
      other.signer,
    ),
    "nested in a JWE": await new CompactEncrypt(Buffer.from(good))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM", cty: "JWT" })
      .encrypt(randomBytes(32)),
    "alg twice": `${base64(`{"alg":"none","typ":"at+jwt","kid":"${rsa.kid}","alg":"RS256"}`)}.${body}.${signature(
      "RS256",
      `${base64(`{"alg":"none","typ":"at+jwt","kid":"${rsa.kid}","alg":"RS256"}`)}.${body}`,
      rsa.privateKey,
    )}`,
    "300 kB long": withClaims({ padding: "x".repeat(300_000) }),
  });
  const accepted = named({
    RS256: good,
    ES256: signUnchecked({ ...header, alg: "ES256", kid: curve.kid }, claims, curve),
    EdDSA: signUnchecked({ ...header, alg: "EdDSA", kid: edwards.kid }, claims, edwards),
    "aud a list with us": withClaims({ aud: ["another-service", audience] }),
    "expired by 30 s": withClaims({ exp: now - 30 }),
    "a key after rotation": signUnchecked({ ...header, kid: rotated.kid }, claims, rotated),
  });
  return { refused, accepted };
}
