// Finds the secrets that sign a message: the endpoint's or the run's, else the tenant's. A tenant without a secret gets a generated one,
// so no message is sent unsigned.
import { randomBytes } from "node:crypto";
import { insertSecretIfMissing, listActiveSecrets, TENANT_SECRET_OWNER } from "../db/webhooks/secrets.ts";
import { encodeSecret } from "./message-signature.ts";
import type { Office } from "./webhook-service.ts";

const SECRET_BYTES = 32;

export const generateWebhookSecret = (): string => encodeSecret(randomBytes(SECRET_BYTES));

type Signed = { tenant_id: string; webhook_id: string | null; run_id: string | null };

export async function findSigningSecrets(office: Office, { tenant_id, webhook_id, run_id }: Signed): Promise<string[]> {
  const own = webhook_id ?? run_id;
  const ofOwner = own ? await secretsOf(office, tenant_id, own) : [];
  if (ofOwner.length > 0) return ofOwner;
  const ofTenant = await secretsOf(office, tenant_id, TENANT_SECRET_OWNER);
  if (ofTenant.length > 0) return ofTenant;
  const name = { tenant_id, owner_id: TENANT_SECRET_OWNER, secret_id: office.newId() };
  await insertSecretIfMissing(office.db, office.secretCipher.encrypt(name, generateWebhookSecret()));
  return secretsOf(office, tenant_id, TENANT_SECRET_OWNER);
}

const secretsOf = async (
  { db, secretCipher: vault }: Pick<Office, "db" | "secretCipher">,
  tenantId: string,
  ownerId: string,
) => (await listActiveSecrets(db, tenantId, ownerId)).map(vault.decrypt);
