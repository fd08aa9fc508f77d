// Finds the secrets that sign a message: the endpoint's or the run's, else the tenant's. A tenant without a secret gets
// a generated one, so no message is sent unsigned.
import { randomBytes } from "node:crypto";
import { insertSecretIfMissing, listActiveSecrets, TENANT_SECRET_OWNER } from "../db/webhooks/secrets.ts";
import { encodeSecret } from "./message-signature.ts";
import type { WebhookServices } from "./webhook-service.ts";

const SECRET_BYTES = 32;

export const generateWebhookSecret = (): string => encodeSecret(randomBytes(SECRET_BYTES));

type Dependencies = Pick<WebhookServices, "database" | "secretCipher" | "ids">;
type MessageSource = { tenant_id: string; webhook_id: string | null; run_id: string | null };

export async function findSigningSecrets(
  services: Dependencies,
  { tenant_id, webhook_id, run_id }: MessageSource,
): Promise<string[]> {
  const ownerId = webhook_id ?? run_id;
  const ownSecrets = ownerId ? await listSecrets(services, tenant_id, ownerId) : [];
  if (ownSecrets.length > 0) return ownSecrets;
  const tenantSecrets = await listSecrets(services, tenant_id, TENANT_SECRET_OWNER);
  if (tenantSecrets.length > 0) return tenantSecrets;
  const id = { tenant_id, owner_id: TENANT_SECRET_OWNER, secret_id: services.ids.next() };
  await insertSecretIfMissing(services.database, services.secretCipher.encrypt(id, generateWebhookSecret()));
  return listSecrets(services, tenant_id, TENANT_SECRET_OWNER);
}

const listSecrets = async ({ database, secretCipher }: Dependencies, tenantId: string, ownerId: string) =>
  (await listActiveSecrets(database, tenantId, ownerId)).map(secretCipher.decrypt);
