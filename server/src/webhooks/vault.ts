// Secrets at rest: sealed with a key that is not in the database, and bound to the row that they stand in, so that a copy of
// the tables shows nothing and a row that was moved opens nothing.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedSecret, SecretName } from "../db/webhook-secrets.ts";
import { Fault } from "../faults.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type Vault = {
  seal(name: SecretName, secret: string): SealedSecret;
  open(secret: SealedSecret): string;
};

export function createVault(key: Uint8Array): Vault {
  // Tells which key a row was sealed with, and nothing of the key.
  const key_id = createHash("sha256").update("vault").update(key).digest("hex").slice(0, 12);
  const placeOf = ({ tenant_id, owner_id, secret_id }: SecretName) =>
    Buffer.from(`${tenant_id} ${owner_id} ${secret_id}`);
  return {
    seal(name, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(placeOf(name));
      const hidden = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { ...name, key_id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), hidden]) };
    },
    open({ sealed, ...row }) {
      if (row.key_id !== key_id) throw unreadable(new Error(`sealed with the key ${row.key_id}, ours is ${key_id}`));
      try {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES)).setAAD(placeOf(row));
        decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const hidden = sealed.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(hidden), decipher.final()]).toString("utf8");
      } catch (thrown) {
        throw unreadable(thrown);
      }
    },
  };
}

const unreadable = (cause: unknown) => new Fault("internal_error", { reason: "secret_unreadable" }, { cause });
