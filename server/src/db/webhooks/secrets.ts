// What webhooks are signed with, sealed: the database never sees a secret.
import type { Database } from "../connect.ts";

/** Where a secret stands. The owner is a webhook, a run, or the tenant itself under the nil id. */
export type WebhookSecretId = { tenant_id: string; owner_id: string; secret_id: string };
export type SealedSecret = WebhookSecretId & { key_id: string; sealed: Buffer };

/** Stands for the tenant itself. */
export const TENANT_SECRET_OWNER = "00000000-0000-0000-0000-000000000000";
/** Secrets that were replaced and still sign. */
const MAX_RETIRED_SECRETS = 10;

/** Those in force, the newest first. */
export async function listActiveSecrets(db: Database, tenantId: string, ownerId: string): Promise<SealedSecret[]> {
  return db.query<SealedSecret>(
    "webhookSecrets.find",
    `select tenant_id, owner_id, secret_id, key_id, sealed from webhook_secrets
     where tenant_id = $1 and owner_id = $2 and (ends_at is null or ends_at > now())
     order by ends_at desc nulls first limit $3`,
    [tenantId, ownerId, MAX_RETIRED_SECRETS + 1],
  );
}

/** The first one of an owner; one that is there already stays. */
export async function insertSecretIfMissing(db: Database, secret: SealedSecret): Promise<void> {
  await db.query(
    "webhookSecrets.add",
    `insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    [secret.tenant_id, secret.owner_id, secret.secret_id, secret.key_id, secret.sealed],
  );
}

/** The new one signs from now on, the old one with it for so long. */
export async function replaceSecret(db: Database, secret: SealedSecret, overlapSeconds: number): Promise<Date | null> {
  const [row] = await db.query<{ ends_at: Date | null }>(
    "webhookSecrets.replace",
    `with ended as (
       update webhook_secrets set ends_at = now() + make_interval(secs => $6)
       where tenant_id = $1 and owner_id = $2 and ends_at is null returning ends_at
     ), made as (
       insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
       select $1, $2, $3, $4, $5 from (select count(*) from ended) as after_it
     )
     select max(ends_at) as ends_at from ended`,
    [secret.tenant_id, secret.owner_id, secret.secret_id, secret.key_id, secret.sealed, overlapSeconds],
  );
  return row?.ends_at ?? null;
}
