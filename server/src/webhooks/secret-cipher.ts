// Encrypts secrets at rest with AES-256-GCM. The keys are not in the database, and the row's ids are additional
// authenticated data: a copied table reveals nothing, and a ciphertext moved to another row does not decrypt.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedSecret, WebhookSecretId } from "../db/webhooks/secrets.ts";
import { Fault } from "../faults/faults.ts";
import type { SecretKeys } from "../runtime/secret-keys.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type SecretCipher = {
  /** Identifies the key that encrypts, without revealing it. Rows with another id are to be encrypted again. */
  currentKeyId: string;
  /** Encrypts with the current key. */
  encrypt(id: WebhookSecretId, secret: string): SealedSecret;
  /** Decrypts with the key that the row names, if it is still accepted. */
  decrypt(secret: SealedSecret): string;
};

export function createSecretCipher(secretKeys: SecretKeys): SecretCipher {
  const keys = new Map(secretKeys.map((key) => [identifyKey(key), key]));
  const [current] = secretKeys;
  const currentKeyId = identifyKey(current);
  return {
    currentKeyId,
    encrypt(id, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(additionalData(id));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { ...id, key_id: currentKeyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]) };
    },
    decrypt({ sealed, ...row }) {
      const key = keys.get(row.key_id);
      if (!key) throw unreadable(new Error(`encrypted with key ${row.key_id}; accepted: ${[...keys.keys()]}`));
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

const identifyKey = (key: Uint8Array) => createHash("sha256").update("vault").update(key).digest("hex").slice(0, 12);

const additionalData = ({ tenant_id, owner_id, secret_id }: WebhookSecretId) =>
  Buffer.from(`${tenant_id} ${owner_id} ${secret_id}`);

const unreadable = (cause: unknown) => new Fault("internal_error", { reason: "secret_unreadable" }, { cause });
