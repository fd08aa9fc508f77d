// Encrypts secrets at rest with AES-256-GCM. The key is not in the database, and the row's ids are additional
// authenticated data: a copied table reveals nothing, and a ciphertext moved to another row does not decrypt.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedSecret, WebhookSecretId } from "../db/webhooks/secrets.ts";
import { Fault } from "../faults.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type SecretCipher = {
  encrypt(id: WebhookSecretId, secret: string): SealedSecret;
  decrypt(secret: SealedSecret): string;
};

export function createSecretCipher(key: Uint8Array): SecretCipher {
  // Identifies the key a row was encrypted with, without revealing the key.
  const key_id = createHash("sha256").update("vault").update(key).digest("hex").slice(0, 12);
  const additionalData = ({ tenant_id, owner_id, secret_id }: WebhookSecretId) =>
    Buffer.from(`${tenant_id} ${owner_id} ${secret_id}`);
  return {
    encrypt(id, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(additionalData(id));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { ...id, key_id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]) };
    },
    decrypt({ sealed, ...row }) {
      if (row.key_id !== key_id)
        throw unreadable(new Error(`encrypted with key ${row.key_id}; the current key is ${key_id}`));
      try {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES)).setAAD(additionalData(row));
        decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const ciphertext = sealed.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch (thrown) {
        throw unreadable(thrown);
      }
    },
  };
}

const unreadable = (cause: unknown) => new Fault("internal_error", { reason: "secret_unreadable" }, { cause });
