// Webhooks in the name of one caller: made, changed, tried out and taken away. A secret is shown where it was made, that
// once; one that a caller gave is never shown at all.
import { createHash } from "node:crypto";
import { assertNotAccessToken } from "../access/delegation.ts";
import { paginate } from "../access/pagination.ts";
import { findIdempotencyKey } from "../db/runs/runs.ts";
import { insertMissingDeliveries } from "../db/webhooks/deliveries.ts";
import {
  deleteWebhookRow,
  findWebhook,
  insertWebhook,
  listWebhookRows,
  MAX_WEBHOOKS_PER_TENANT,
  updateWebhookRow,
  type WebhookRow,
} from "../db/webhooks/endpoints.ts";
import { insertReplay } from "../db/webhooks/replays.ts";
import { replaceSecret, TENANT_SECRET_OWNER } from "../db/webhooks/secrets.ts";
import { Fault } from "../faults.ts";
import type { NewWebhook, Webhook, WebhookEventType } from "../kit/schemas/webhooks.ts";
import type { SecretRotation, WebhookDraft, WebhookStore } from "../kit/webhook-store.ts";
import { createDeliveryStore, renderDelivery } from "./delivery-store.ts";
import { deliveryDestination } from "./destination.ts";
import { createListenerStore } from "./listeners.ts";
import { renderSampleBody } from "./sample-message.ts";
import { generateWebhookSecret } from "./signing-secrets.ts";
import { checkWebhookUrl } from "./webhook-policy.ts";
import type { Counter } from "./webhook-request-context.ts";
import { disableAfterSeconds, type Office } from "./webhook-service.ts";

export function webhooksOf(counter: Counter): WebhookStore {
  const { db, caller, cursors, newId } = counter;
  const own = async (id: string): Promise<WebhookRow> => requireWebhook(await findWebhook(db, caller.tenant_id, id));
  const show = (row: WebhookRow) => renderWebhook(counter, row);

  return {
    create: (draft) => createWebhookIdempotently(counter, draft),
    get: async (id) => show(await own(id)),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["webhooks", caller.tenant_id],
        read: (before, limit) => listWebhookRows(db, caller.tenant_id, before, limit),
        cursorId: (row) => row.webhook_id,
        show,
      }),
    async update(id, change) {
      assertNotAccessToken(caller);
      if (change.url !== undefined) checkWebhookUrl(counter.httpClient, change.url);
      const host = change.url === undefined ? undefined : new URL(change.url).hostname;
      return show(requireWebhook(await updateWebhookRow(db, caller, id, { ...change, host })));
    },
    async delete(id) {
      assertNotAccessToken(caller);
      return show(requireWebhook(await deleteWebhookRow(db, caller, id)));
    },
    async rotate(id, rotation) {
      assertNotAccessToken(caller);
      const row = await own(id);
      return { ...show(row), secret: (await rotate(counter, id, rotation)).secret };
    },
    async rotateTenantSecret(rotation) {
      assertNotAccessToken(caller);
      return rotate(counter, TENANT_SECRET_OWNER, rotation);
    },
    async test(id, { type, metadata }) {
      const { tenant_id, webhook_id, url } = await own(id);
      const [event_id, delivery_id] = [newId(), newId()];
      const about = { tenant_id, webhook_id, url, type, event_id, run_id: null };
      const body = renderSampleBody(type, { webhook_id, now: new Date(), metadata });
      await insertMissingDeliveries(
        db,
        [{ ...about, delivery_id, body, ...deliveryDestination(about) }],
        disableAfterSeconds(counter),
      );
      return renderDelivery({ ...about, delivery_id, body, ...NEW_DELIVERY_STATE, created_at: new Date() });
    },
    async replay(id, { from, to, only_failed }) {
      const { tenant_id, webhook_id, enabled } = await own(id);
      if (!enabled) throw new Fault("conflict", { retryable: false, reason: "webhook_disabled" });
      const range = { from_at: new Date(from), to_at: to === undefined ? new Date() : new Date(to) };
      const row = await insertReplay(db, { replay_id: newId(), tenant_id, webhook_id, ...range, only_failed });
      return {
        ...{ id: row.replay_id, webhook_id, only_failed, created_at: row.created_at.toISOString() },
        ...{ from: row.from_at.toISOString(), to: row.to_at.toISOString() },
      };
    },
    ...createDeliveryStore(counter),
    listeners: createListenerStore(counter),
  };
}

const NEW_DELIVERY_STATE = { status: "pending", attempts: 0, next_attempt_at: null, finished_at: null } as const;

function requireWebhook(row: WebhookRow | undefined): WebhookRow {
  if (!row) throw new Fault("route_not_found");
  return row;
}

/** The same Idempotency-Key makes one webhook. Asked again it answers that one without its secret. */
async function createWebhookIdempotently(
  counter: Counter,
  { secret: given, ...draft }: WebhookDraft & { secret?: string | undefined },
) {
  const { db, caller, secretCipher: vault, newId, idempotencyKey } = counter;
  assertNotAccessToken(caller);
  checkWebhookUrl(counter.httpClient, draft.url);
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["webhooks.create", draft, given]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const [webhook_id, secret] = [newId(), given ?? generateWebhookSecret()];
  const sealed = vault.encrypt({ tenant_id: caller.tenant_id, owner_id: webhook_id, secret_id: newId() }, secret);
  const { url, events, description = null } = draft;
  const row = await insertWebhook(db, caller, { webhook_id, url, events, description, secret: sealed, idempotency });
  const shown = (made: WebhookRow, once: string | null): NewWebhook => ({
    ...renderWebhook(counter, made),
    secret: once,
  });
  if (row) return shown(row, given === undefined ? secret : null);
  const known = idempotency && (await findIdempotencyKey(db, caller.tenant_id, idempotency.key));
  if (!known)
    throw new Fault("conflict", { retryable: false, reason: "too_many_webhooks", most: MAX_WEBHOOKS_PER_TENANT });
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const made = await findWebhook(db, caller.tenant_id, known.resource_id);
  if (!made) throw new Fault("idempotency_in_progress");
  counter.onReplay?.();
  return shown(made, null);
}

const UNIQUE_VIOLATION = "23505";

async function rotate(
  { db, caller, secretCipher: vault, newId }: Counter,
  ownerId: string,
  { secret: given, overlap_seconds }: SecretRotation,
) {
  const secret = given ?? generateWebhookSecret();
  const sealed = vault.encrypt({ tenant_id: caller.tenant_id, owner_id: ownerId, secret_id: newId() }, secret);
  const ends = await replaceSecret(db, sealed, overlap_seconds).catch((thrown) => {
    // Somebody replaced it in the same moment: theirs is the new one.
    throw (thrown as { code?: string }).code === UNIQUE_VIOLATION
      ? new Fault("conflict", {}, { cause: thrown })
      : thrown;
  });
  return { secret: given === undefined ? secret : null, old_secret_ends_at: ends?.toISOString() ?? null };
}

const time = (at: Date | null) => at?.toISOString() ?? null;

const renderWebhook = ({ keysUrl }: Pick<Office, "keysUrl">, row: WebhookRow): Webhook => ({
  id: row.webhook_id,
  url: row.url,
  events: row.events as WebhookEventType[],
  description: row.description,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  disabled_at: time(row.disabled_at),
  failing_since: time(row.failing_since),
  public_keys_url: keysUrl(row.tenant_id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
