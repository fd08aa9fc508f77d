// Encrypts all stored webhook secrets again with the current key, after which the previous GESSO_SECRET is no longer
// needed to read them. Can run beside the service, can be repeated, and continues after an interruption.
import {
  listSecretsOfOtherKeys,
  TENANT_SECRET_OWNER,
  updateSealedSecret,
  type WebhookSecretId,
} from "../db/webhooks/secrets.ts";
import type { WebhookServices } from "./webhook-service.ts";

const BATCH_SIZE = 500;
const NIL = TENANT_SECRET_OWNER;

/** `unreadable`: encrypted with a key that is not accepted. These rows stay as they are. */
export type ResealedSecrets = { resealed: number; unreadable: number };

export async function resealSecrets({
  database,
  secretCipher,
}: Pick<WebhookServices, "database" | "secretCipher">): Promise<ResealedSecrets> {
  const counts = { resealed: 0, unreadable: 0 };
  let after: WebhookSecretId = { tenant_id: NIL, owner_id: NIL, secret_id: NIL };
  for (;;) {
    const rows = await listSecretsOfOtherKeys(database, secretCipher.currentKeyId, after, BATCH_SIZE);
    for (const row of rows) {
      const { tenant_id, owner_id, secret_id } = row;
      try {
        const secret = secretCipher.decrypt(row);
        await updateSealedSecret(database, secretCipher.encrypt({ tenant_id, owner_id, secret_id }, secret));
        counts.resealed++;
      } catch (thrown) {
        if ((thrown as { details?: { reason?: string } }).details?.reason !== "secret_unreadable") throw thrown;
        counts.unreadable++;
      }
      after = { tenant_id, owner_id, secret_id };
    }
    if (rows.length < BATCH_SIZE) return counts;
  }
}
