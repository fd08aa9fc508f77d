// Signs webhook messages by the Standard Webhooks specification: with every active secret and every Ed25519 key pair of
// the tenant, so that a rotation does not interrupt a receiver.
import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

const PREFIX = "whsec_";
/** DER prefix of a PKCS #8 Ed25519 private key; the 32 key bytes follow. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** `whsec_` is followed by base64; a secret without the prefix is used as text. */
const secretBytes = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret);

export const encodeSecret = (bytes: Uint8Array): string => `${PREFIX}${Buffer.from(bytes).toString("base64")}`;

/** Derives a key pair from a 32-byte seed. */
export const createSigningKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });

export type PublicJwk = { kty: "OKP"; crv: "Ed25519"; x: string; kid: string; alg: "EdDSA"; use: "sig" };

/** The public key as a JWK. */
export function toPublicJwk(key: KeyObject): PublicJwk {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const kid = createHash("sha256").update(x).digest("base64url").slice(0, 16);
  return { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" };
}

export type SignableMessage = { id: string; timestamp: number; body: string };

/** One `v1` signature per secret, in order, then one `v1a` signature per key pair. */
export function signMessage({ id, timestamp, body }: SignableMessage, secrets: string[], keys: KeyObject[]): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const shared = secrets.map((secret) => {
    const digest = createHmac("sha256", secretBytes(secret)).update(content).digest("base64");
    return `v1,${digest}`;
  });
  const asymmetric = keys.map((key) => `v1a,${sign(null, content, key).toString("base64")}`);
  return [...shared, ...asymmetric].join(" ");
}
