// Which secrets sign a message: the webhook's own, or the run's, or else the tenant's. Nothing is ever sent unsigned: a
// tenant that has no secret yet is given one.
import { randomBytes } from "node:crypto";
import { addSecret, findSecrets, NIL_ID } from "../db/webhook-secrets.ts";
import type { Office } from "./office.ts";
import { printSecret } from "./sign.ts";

const SECRET_BYTES = 32;

export const newSecret = (): string => printSecret(randomBytes(SECRET_BYTES));

type Signed = { tenant_id: string; webhook_id: string | null; run_id: string | null };

export async function secretsFor(office: Office, { tenant_id, webhook_id, run_id }: Signed): Promise<string[]> {
  const own = webhook_id ?? run_id;
  const ofOwner = own ? await secretsOf(office, tenant_id, own) : [];
  if (ofOwner.length > 0) return ofOwner;
  const ofTenant = await secretsOf(office, tenant_id, NIL_ID);
  if (ofTenant.length > 0) return ofTenant;
  const name = { tenant_id, owner_id: NIL_ID, secret_id: office.newId() };
  await addSecret(office.db, office.vault.seal(name, newSecret()));
  return secretsOf(office, tenant_id, NIL_ID);
}

const secretsOf = async ({ db, vault }: Pick<Office, "db" | "vault">, tenantId: string, ownerId: string) =>
  (await findSecrets(db, tenantId, ownerId)).map(vault.open);
