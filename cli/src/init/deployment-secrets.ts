// The secrets of a deployment: a random value for each, and those that follow from another one.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { encodeBase58 } from "./base58.ts";

/** `source`: the secret that this one is derived from. It comes earlier in the list. */
export type DeploymentSecret = { name: string; purpose: string } & (
  | { create(): string }
  | { source: string; derive(source: string): string }
);

const SECRET_BYTES = 32;
const createRandom = () => randomBytes(SECRET_BYTES).toString("hex");

export const DEPLOYMENT_SECRETS: readonly DeploymentSecret[] = [
  { name: "gesso_secret", purpose: "signs URLs and encrypts webhook secrets; back it up", create: createRandom },
  { name: "database_password", purpose: "password of the account gesso in PostgreSQL", create: createRandom },
  {
    ...{ name: "database_url", purpose: "URL of PostgreSQL with this password", source: "database_password" },
    derive: (password) => `postgres://gesso:${encodeURIComponent(password)}@postgres:5432/gesso`,
  },
  { name: "fetcher_token", purpose: "token between the fetcher and the other processes", create: createRandom },
  {
    ...{ name: "restate_identity_pem", purpose: "private key with which Restate signs its requests" },
    create: () => generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  },
  {
    ...{ name: "restate_identity_keys", purpose: "its public key, for the workers", source: "restate_identity_pem" },
    derive: describePublicKey,
  },
];

/** As Restate logs its key when it starts. */
function describePublicKey(pem: string): string {
  const { x } = createPublicKey(createPrivateKey(pem)).export({ format: "jwk" });
  return `publickeyv1_${encodeBase58(Buffer.from(x ?? "", "base64url"))}`;
}
