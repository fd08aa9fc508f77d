// Webhook endpoints of tenants. Every read and write of a caller is scoped by tenant, and every change is recorded in
// the audit log by the statement that makes it.

import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import type { DisabledReason } from "../typed-columns.ts";
import type { SealedSecret } from "./secrets.ts";

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
  idempotency?: NewIdempotencyKey | undefined;
};

/** Every event is sent to each endpoint that subscribes to it, which limits their number. */
export const MAX_WEBHOOKS_PER_TENANT = 100;

const ENDPOINT_COLUMNS = `webhook_id, tenant_id, url, events, description, enabled, disabled_reason, disabled_at,
  failing_since, created_at, updated_at`;

const INSERT = statement(
  "webhooks.insert",
  `with allowed as (
     select where (select count(*) from webhook_endpoints where tenant_id = :tenant_id) < ${MAX_WEBHOOKS_PER_TENANT}
   ), ${insertIdempotencyKeySql({ kind: "webhook", resource: ":webhook_id", from: "allowed" })}, inserted as (
     insert into webhook_endpoints (webhook_id, tenant_id, url, events, description)
     select :webhook_id, :tenant_id, :url, :events, :description? from allowed where ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${ENDPOINT_COLUMNS}
   ), secret as (
     insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
     select :tenant_id, webhook_id, :secret_id, :secret_key_id, :sealed_secret from inserted
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'webhooks.create', webhook_id::text,
       jsonb_build_object('url', url, 'events', events)
     from inserted
   )
   select ${ENDPOINT_COLUMNS} from inserted`,
);

/** Undefined if another request holds the idempotency key, or if the tenant has the maximum number of endpoints. */
export async function insertWebhook(
  db: Database,
  actor: Actor,
  webhook: NewWebhookRow,
): Promise<WebhookRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    webhook_id: webhook.webhook_id,
    url: webhook.url,
    events: webhook.events,
    description: webhook.description,
    secret_id: webhook.secret.secret_id,
    secret_key_id: webhook.secret.key_id,
    sealed_secret: webhook.secret.sealed,
    ...idempotencyParameters(webhook.idempotency),
  });
  return row;
}

const FIND = statement(
  "webhooks.find",
  `select ${ENDPOINT_COLUMNS} from webhook_endpoints where tenant_id = :tenant_id and webhook_id = :webhook_id`,
);

export async function findWebhook(db: Database, tenantId: string, id: string): Promise<WebhookRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, webhook_id: id });
  return row;
}

const LIST = statement(
  "webhooks.list",
  `select ${ENDPOINT_COLUMNS} from webhook_endpoints
   where tenant_id = :tenant_id and (:before?::uuid is null or webhook_id < :before?)
   order by webhook_id desc limit :limit`,
);

/** Newest first, with keyset pagination. */
export async function listWebhookRows(
  db: Database,
  tenantId: string,
  before: string | undefined,
  limit: number,
): Promise<WebhookRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, before, limit });
}

const LIST_ENABLED = statement(
  "webhooks.list_enabled",
  `select ${ENDPOINT_COLUMNS} from webhook_endpoints where tenant_id = any(:tenant_ids::uuid[]) and enabled`,
);

/** The enabled endpoints of these tenants. */
export async function listEnabledWebhooks(db: Database, tenantIds: string[]): Promise<WebhookRow[]> {
  return db.execute(LIST_ENABLED, { tenant_ids: tenantIds });
}

export type WebhookChange = Partial<Pick<WebhookRow, "url" | "events" | "description" | "enabled">>;

const UPDATE = statement(
  "webhooks.update",
  `with changed as (
     update webhook_endpoints set url = coalesce(:url?, url), events = coalesce(:events?::text[], events),
       description = case when :has_description then :description? else description end, updated_at = now(),
       enabled = coalesce(:enabled?, enabled),
       disabled_at = case when coalesce(:enabled?, enabled) then null else coalesce(disabled_at, now()) end,
       disabled_reason = case when coalesce(:enabled?, enabled) then null else coalesce(disabled_reason, 'asked') end,
       failing_since = case when :enabled? or :url? is not null then null else failing_since end
     where tenant_id = :tenant_id and webhook_id = :webhook_id
     returning ${ENDPOINT_COLUMNS}
   ), closed as (
     delete from open_deliveries using changed
     where open_deliveries.tenant_id = :tenant_id and open_deliveries.webhook_id = :webhook_id and not changed.enabled
     returning delivery_id
   ), disabled_deliveries as (
     update webhook_deliveries set status = 'disabled', finished_at = now(), next_attempt_at = null
     where tenant_id = :tenant_id and delivery_id = any (array(select delivery_id from closed))
   ), rerouted as (
     update open_deliveries set host = :host? from changed
     where open_deliveries.tenant_id = :tenant_id and open_deliveries.webhook_id = :webhook_id and changed.enabled
       and :url?::text is not null
     returning delivery_id
   ), rerouted_deliveries as (
     update webhook_deliveries set url = :url?
     where tenant_id = :tenant_id and delivery_id = any (array(select delivery_id from rerouted))
   ), closed_breaker as (
     delete from webhook_circuit_breakers
     where tenant_id = :tenant_id and destination = 'webhook/' || :webhook_id and exists (select from changed)
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'webhooks.update', webhook_id::text, :change::jsonb from changed
   )
   select ${ENDPOINT_COLUMNS} from changed`,
);

/**
 * Enabling an endpoint closes its circuit breaker; disabling it ends its pending deliveries. Pending deliveries are
 * sent to the new URL if it changes.
 */
export async function updateWebhookRow(
  db: Database,
  actor: Actor,
  id: string,
  { url, events, description, enabled, host }: WebhookChange & { host?: string | undefined },
): Promise<WebhookRow | undefined> {
  const [row] = await db.execute(UPDATE, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    webhook_id: id,
    url,
    host,
    events,
    has_description: description !== undefined,
    description,
    enabled,
    change: { url, events, description, enabled },
  });
  return row;
}

const DELETE = statement(
  "webhooks.delete",
  `with deleted as (
     delete from webhook_endpoints where tenant_id = :tenant_id and webhook_id = :webhook_id
     returning ${ENDPOINT_COLUMNS}
   ), deleted_secrets as (
     delete from webhook_secrets where tenant_id = :tenant_id and owner_id = :webhook_id
       and exists (select from deleted)
   ), closed as (
     delete from open_deliveries
     where tenant_id = :tenant_id and webhook_id = :webhook_id and exists (select from deleted)
     returning delivery_id
   ), dropped_deliveries as (
     update webhook_deliveries set status = 'dropped', finished_at = now(), next_attempt_at = null
     where tenant_id = :tenant_id and delivery_id = any (array(select delivery_id from closed))
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'webhooks.delete', webhook_id::text,
       jsonb_build_object('url', url)
     from deleted
   )
   select ${ENDPOINT_COLUMNS} from deleted`,
);

/** Pending deliveries are dropped; ended deliveries stay in the log. */
export async function deleteWebhookRow(db: Database, actor: Actor, id: string): Promise<WebhookRow | undefined> {
  const [row] = await db.execute(DELETE, { tenant_id: actor.tenant_id, ...actorParameters(actor), webhook_id: id });
  return row;
}

const DISABLE = statement(
  "webhooks.disable",
  `with changed as (
     update webhook_endpoints set enabled = false, disabled_at = now(), disabled_reason = :reason, updated_at = now()
     where tenant_id = :tenant_id and webhook_id = :webhook_id and enabled returning ${ENDPOINT_COLUMNS}
   ), closed as (
     delete from open_deliveries using changed
     where open_deliveries.tenant_id = :tenant_id and open_deliveries.webhook_id = :webhook_id
     returning delivery_id
   ), disabled_deliveries as (
     update webhook_deliveries set status = 'disabled', finished_at = now(), next_attempt_at = null
     where tenant_id = :tenant_id and delivery_id = any (array(select delivery_id from closed)) and status = 'pending'
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, data)
     select :event_id, :event_id, tenant_id, 'webhook_endpoint.disabled', jsonb_build_object('webhook_id', webhook_id,
       'url', url, 'reason', disabled_reason, 'disabled_at', disabled_at, 'failing_since', failing_since)
     from changed
   )
   select webhook_id from changed`,
);

/** Disables an enabled endpoint and inserts an event. Idempotent: false, and no event, if it is already disabled. */
export async function disableWebhook(
  db: Database,
  { tenant_id, webhook_id }: { tenant_id: string; webhook_id: string },
  reason: DisabledReason,
  eventId: string,
): Promise<boolean> {
  const rows = await db.execute(DISABLE, { tenant_id, webhook_id, reason, event_id: eventId });
  return rows.length > 0;
}
