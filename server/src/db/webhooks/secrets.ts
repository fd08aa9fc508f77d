// Signing secrets of webhooks, encrypted before they reach the database.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** The owner is an endpoint, a run, a listener, or the tenant itself (nil id). */
export type WebhookSecretId = { tenant_id: string; owner_id: string; secret_id: string };
export type SealedSecret = WebhookSecretId & { key_id: string; sealed: Buffer };

/** The owner id of the secrets of the tenant itself. */
export const TENANT_SECRET_OWNER = "00000000-0000-0000-0000-000000000000";
/** Rotated secrets that still sign. */
const MAX_RETIRED_SECRETS = 10;

const LIST_ACTIVE = statement(
  "webhook_secrets.list_active",
  `select tenant_id, owner_id, secret_id, key_id, sealed from webhook_secrets
   where tenant_id = :tenant_id and owner_id = :owner_id and (ends_at is null or ends_at > now())
   order by ends_at desc nulls first limit :limit`,
);

/** The secrets that sign now, newest first. */
export async function listActiveSecrets(db: Database, tenantId: string, ownerId: string): Promise<SealedSecret[]> {
  return db.execute(LIST_ACTIVE, { tenant_id: tenantId, owner_id: ownerId, limit: MAX_RETIRED_SECRETS + 1 });
}

const secretParameters = ({ tenant_id, owner_id, secret_id, key_id, sealed }: SealedSecret) => ({
  ...{ tenant_id, owner_id, secret_id, key_id, sealed },
});

const INSERT_IF_MISSING = statement(
  "webhook_secrets.insert_if_missing",
  `insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
   values (:tenant_id, :owner_id, :secret_id, :key_id, :sealed) on conflict do nothing`,
);

/** Inserts the first secret of an owner. Idempotent: an existing secret stays. */
export async function insertSecretIfMissing(db: Database, secret: SealedSecret): Promise<void> {
  await db.execute(INSERT_IF_MISSING, secretParameters(secret));
}

const ROTATE = statement(
  "webhook_secrets.rotate",
  `with ended as (
     update webhook_secrets set ends_at = now() + make_interval(secs => :overlap_seconds)
     where tenant_id = :tenant_id and owner_id = :owner_id and ends_at is null returning ends_at
   ), inserted as (
     -- Reads \`ended\`, so that it runs after the update: only one secret of an owner may have no end.
     insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
     select :tenant_id, :owner_id, :secret_id, :key_id, :sealed from (select count(*) from ended) as after_update
     returning secret_id
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, :action::text, :subject::text,
       jsonb_build_object('secret_id', secret_id, 'overlap_seconds', :overlap_seconds::double precision)
     from inserted
   )
   select max(ends_at) as ends_at from ended`,
);

/** The new secret signs from now on; the old one also signs until the returned time. */
export async function replaceSecret(
  db: Database,
  actor: Actor,
  secret: SealedSecret,
  overlapSeconds: number,
): Promise<Date | null> {
  const isOfTenant = secret.owner_id === TENANT_SECRET_OWNER;
  const [row] = await db.execute(ROTATE, {
    ...secretParameters(secret),
    ...actorParameters(actor),
    action: isOfTenant ? "webhooks.secret.rotate" : "webhooks.rotate",
    subject: isOfTenant ? secret.tenant_id : secret.owner_id,
    overlap_seconds: overlapSeconds,
  });
  return row?.ends_at ?? null;
}

const LIST_OTHER_KEYS = statement(
  "webhook_secrets.list_other_keys",
  `select tenant_id, owner_id, secret_id, key_id, sealed from webhook_secrets
   where key_id <> :key_id and (tenant_id, owner_id, secret_id) > (:tenant_id, :owner_id, :secret_id)
   order by tenant_id, owner_id, secret_id limit :limit`,
);

/** Secrets that are not encrypted with this key, in the order of their ids, after the given one. */
export async function listSecretsOfOtherKeys(
  db: Database,
  keyId: string,
  { tenant_id, owner_id, secret_id }: WebhookSecretId,
  limit: number,
): Promise<SealedSecret[]> {
  return db.execute(LIST_OTHER_KEYS, { key_id: keyId, tenant_id, owner_id, secret_id, limit });
}

const RESEAL = statement(
  "webhook_secrets.reseal",
  `update webhook_secrets set key_id = :key_id, sealed = :sealed
   where tenant_id = :tenant_id and owner_id = :owner_id and secret_id = :secret_id`,
);

/** Replaces the ciphertext of the same secret. */
export async function updateSealedSecret(db: Database, secret: SealedSecret): Promise<void> {
  await db.execute(RESEAL, secretParameters(secret));
}
