// The webhooks of tenants: where they want to be told of what. Every read and write of a caller is scoped by tenant, and
// every change is told in the audit log, in the statement that makes it.
import type { Actor } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import type { SealedSecret } from "./secrets.ts";

export type DisabledReason = "asked" | "gone" | "failing" | "not_allowed";

export type WebhookRow = {
  webhook_id: string;
  tenant_id: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  disabled_at: Date | null;
  failing_since: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type NewWebhookRow = Pick<WebhookRow, "webhook_id" | "url" | "events" | "description"> & {
  secret: SealedSecret;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Every event is sent to each of them: there is an end to it. */
export const MAX_WEBHOOKS_PER_TENANT = 100;

/** Undefined: the idempotency key is taken, or there are as many as there may be. */
export async function insertWebhook(
  db: Database,
  actor: Actor,
  webhook: NewWebhookRow,
): Promise<WebhookRow | undefined> {
  const [row] = await db.query<WebhookRow>(
    "webhooks.create",
    `with room as (
       select where (select count(*) from webhooks where tenant_id = $1) < ${MAX_WEBHOOKS_PER_TENANT}
     ), once as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $11, $12, $4 from room where $11::text is not null
       on conflict do nothing returning run_id
     ), made as (
       insert into webhooks (webhook_id, tenant_id, url, events, description)
       select $4, $1, $5, $6, $7 from room where $11::text is null or exists (select from once)
       returning *
     ), kept as (
       insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
       select $1, webhook_id, $8, $9, $10 from made
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'webhooks.create', webhook_id::text, jsonb_build_object('url', url, 'events', events) from made
     )
     select * from made`,
    [
      ...[
        actor.tenant_id,
        actor.user_id,
        actor.key_id,
        webhook.webhook_id,
        webhook.url,
        webhook.events,
        webhook.description,
      ],
      ...[webhook.secret.secret_id, webhook.secret.key_id, webhook.secret.sealed],
      ...[webhook.idempotency?.key, webhook.idempotency?.fingerprint],
    ],
  );
  return row;
}

export async function findWebhook(db: Database, tenantId: string, id: string): Promise<WebhookRow | undefined> {
  const [row] = await db.query<WebhookRow>(
    "webhooks.find",
    "select * from webhooks where tenant_id = $1 and webhook_id = $2",
    [tenantId, id],
  );
  return row;
}

/** Newest first, by key-set. */
export async function listWebhookRows(
  db: Database,
  tenantId: string,
  before: string | undefined,
  limit: number,
): Promise<WebhookRow[]> {
  return db.query<WebhookRow>(
    "webhooks.list",
    `select * from webhooks where tenant_id = $1 and ($2::uuid is null or webhook_id < $2)
     order by webhook_id desc limit $3`,
    [tenantId, before, limit],
  );
}

/** Those that want anything, of any of these tenants. */
export async function listEnabledWebhooks(db: Database, tenantIds: string[]): Promise<WebhookRow[]> {
  return db.query<WebhookRow>(
    "webhooks.enabled",
    "select * from webhooks where tenant_id = any($1::uuid[]) and enabled",
    [tenantIds],
  );
}

export type WebhookChange = Partial<Pick<WebhookRow, "url" | "events" | "description" | "enabled">>;

/**
 * One that is switched on again starts with a clean record; what is switched off lets go of what it was to be sent. What
 * waits goes to the new address, where that changes.
 */
export async function updateWebhookRow(
  db: Database,
  actor: Actor,
  id: string,
  { url, events, description, enabled, host }: WebhookChange & { host?: string | undefined },
): Promise<WebhookRow | undefined> {
  const [row] = await db.query<WebhookRow>(
    "webhooks.change",
    `with changed as (
       update webhooks set url = coalesce($5, url), events = coalesce($6::text[], events),
         description = case when $7 then $8 else description end, updated_at = now(),
         enabled = coalesce($9, enabled),
         disabled_at = case when coalesce($9, enabled) then null else coalesce(disabled_at, now()) end,
         disabled_reason = case when coalesce($9, enabled) then null else coalesce(disabled_reason, 'asked') end,
         failing_since = case when $9 or $5 is not null then null else failing_since end
       where tenant_id = $1 and webhook_id = $4
       returning *
     ), closed as (
       delete from open_deliveries using changed
       where open_deliveries.tenant_id = $1 and open_deliveries.webhook_id = $4 and not changed.enabled
       returning delivery_id
     ), stopped as (
       update webhook_deliveries set status = 'disabled', finished_at = now(), next_attempt_at = null
       where tenant_id = $1 and delivery_id = any (array(select delivery_id from closed))
     ), moved as (
       update open_deliveries set host = $11 from changed
       where open_deliveries.tenant_id = $1 and open_deliveries.webhook_id = $4 and changed.enabled and $5::text is not null
       returning delivery_id
     ), readdressed as (
       update webhook_deliveries set url = $5 where tenant_id = $1 and delivery_id = any (array(select delivery_id from moved))
     ), healed as (
       delete from webhook_health where tenant_id = $1 and destination = 'webhook/' || $4 and exists (select from changed)
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'webhooks.update', webhook_id::text, $10::jsonb from changed
     )
     select * from changed`,
    [
      ...[actor.tenant_id, actor.user_id, actor.key_id, id, url, events, description !== undefined, description],
      ...[enabled, { url, events, description, enabled }, host],
    ],
  );
  return row;
}

/** Its messages that were not sent are dropped; what was sent stays in the log. */
export async function deleteWebhookRow(db: Database, actor: Actor, id: string): Promise<WebhookRow | undefined> {
  const [row] = await db.query<WebhookRow>(
    "webhooks.delete",
    `with gone as (
       delete from webhooks where tenant_id = $1 and webhook_id = $4 returning *
     ), forgotten as (
       delete from webhook_secrets where tenant_id = $1 and owner_id = $4 and exists (select from gone)
     ), closed as (
       delete from open_deliveries where tenant_id = $1 and webhook_id = $4 and exists (select from gone)
       returning delivery_id
     ), dropped as (
       update webhook_deliveries set status = 'dropped', finished_at = now(), next_attempt_at = null
       where tenant_id = $1 and delivery_id = any (array(select delivery_id from closed))
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'webhooks.delete', webhook_id::text, jsonb_build_object('url', url) from gone
     )
     select * from gone`,
    [actor.tenant_id, actor.user_id, actor.key_id, id],
  );
  return row;
}

/** Once: whoever finds it disabled already changes nothing, and nobody is told twice. */
export async function disableWebhook(
  db: Database,
  webhook: { tenant_id: string; webhook_id: string },
  reason: DisabledReason,
  eventId: string,
): Promise<boolean> {
  const rows = await db.query(
    "webhooks.disable",
    `with changed as (
       update webhooks set enabled = false, disabled_at = now(), disabled_reason = $3, updated_at = now()
       where tenant_id = $1 and webhook_id = $2 and enabled returning *
     ), closed as (
       delete from open_deliveries using changed
       where open_deliveries.tenant_id = $1 and open_deliveries.webhook_id = $2
       returning delivery_id
     ), stopped as (
       update webhook_deliveries set status = 'disabled', finished_at = now(), next_attempt_at = null
       where tenant_id = $1 and delivery_id = any (array(select delivery_id from closed)) and status = 'pending'
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, data)
       select $4, $4, tenant_id, 'webhook_endpoint.disabled', jsonb_build_object('webhook_id', webhook_id, 'url', url,
         'reason', disabled_reason, 'disabled_at', disabled_at, 'failing_since', failing_since)
       from changed
     )
     select webhook_id from changed`,
    [webhook.tenant_id, webhook.webhook_id, reason, eventId],
  );
  return rows.length > 0;
}
