// Standard Webhooks: signs what is sent, with every secret that is in force and with the tenant's own key pair, so that a
// receiver can check it with what they have and does not notice when a secret is replaced.
import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

const PREFIX = "whsec_";
/** What stands before the 32 bytes of a private key of ed25519 in PKCS 8. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** `whsec_` and base64 is a key in bytes; a secret without the prefix is taken as it stands. */
const secretBytes = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret);

export const encodeSecret = (bytes: Uint8Array): string => `${PREFIX}${Buffer.from(bytes).toString("base64")}`;

/** A key pair from 32 bytes that are never shown. */
export const createSigningKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });

export type PublicJwk = { kty: "OKP"; crv: "Ed25519"; x: string; kid: string; alg: "EdDSA"; use: "sig" };

/** The public half, as key sets have it. */
export function toPublicJwk(key: KeyObject): PublicJwk {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const kid = createHash("sha256").update(x).digest("base64url").slice(0, 16);
  return { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" };
}

export type SignableMessage = { id: string; timestamp: number; body: string };

/** One signature for each secret, in order, and one by the key pair. */
export function signMessage({ id, timestamp, body }: SignableMessage, secrets: string[], key: KeyObject): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const shared = secrets.map((secret) => {
    const digest = createHmac("sha256", secretBytes(secret)).update(content).digest("base64");
    return `v1,${digest}`;
  });
  return [...shared, `v1a,${sign(null, content, key).toString("base64")}`].join(" ");
}
