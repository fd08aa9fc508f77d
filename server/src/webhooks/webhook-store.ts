// Webhook endpoints of the caller's tenant: create, update, test, replay, rotate the secret, delete. A generated secret
// is returned once, when it is created; a secret that the caller provided is never returned.
import { assertNotAccessToken } from "../access/delegation.ts";
import { paginate } from "../access/pagination.ts";
import type { RequestContext } from "../access/request-context.ts";
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
import { createOnce } from "../idempotency/create-once.ts";
import type { NewWebhook, Webhook, WebhookEventType } from "../kit/schemas/webhooks.ts";
import type { SecretRotation, WebhookDraft, WebhookStore } from "../kit/webhook-store.ts";
import { createDeliveryStore, renderDelivery } from "./delivery-store.ts";
import { deliveryDestination } from "./destination.ts";
import { createListenerStore } from "./listeners.ts";
import { renderSampleBody } from "./sample-message.ts";
import { generateWebhookSecret } from "./signing-secrets.ts";
import { checkWebhookUrl } from "./webhook-policy.ts";
import { disableAfterSeconds, type WebhookService, type WebhookServices } from "./webhook-service.ts";

/** `database` is missing on purpose: the store uses the scoped one of the request. */
export type WebhookStoreDependencies = Omit<WebhookServices, "database" | "log">;

export function createWebhookStore(services: WebhookStoreDependencies, context: RequestContext): WebhookStore {
  const { ids, clock } = services;
  const { database, caller, cursors } = context;
  const findOwn = async (id: string): Promise<WebhookRow> =>
    requireWebhook(await findWebhook(database, caller.tenant_id, id));
  const render = (row: WebhookRow) => renderWebhook(services, row);

  return {
    create: (draft) => createWebhookIdempotently(services, context, draft),
    get: async (id) => render(await findOwn(id)),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["webhooks", caller.tenant_id],
        read: (before, limit) => listWebhookRows(database, caller.tenant_id, before, limit),
        cursorId: (row) => row.webhook_id,
        render,
      }),
    async update(id, change) {
      assertNotAccessToken(caller);
      if (change.url !== undefined) checkWebhookUrl(services.httpClient, change.url);
      const host = change.url === undefined ? undefined : new URL(change.url).hostname;
      return render(requireWebhook(await updateWebhookRow(database, caller, id, { ...change, host })));
    },
    async delete(id) {
      assertNotAccessToken(caller);
      return render(requireWebhook(await deleteWebhookRow(database, caller, id)));
    },
    secrets: {
      async rotate(id, rotation) {
        assertNotAccessToken(caller);
        const row = await findOwn(id);
        return { ...render(row), secret: (await rotateSecret(services, context, id, rotation)).secret };
      },
      async rotateForTenant(rotation) {
        assertNotAccessToken(caller);
        return rotateSecret(services, context, TENANT_SECRET_OWNER, rotation);
      },
    },
    deliveries: {
      async sendTest(id, { type, metadata }) {
        const { tenant_id, webhook_id, url } = await findOwn(id);
        const now = new Date(clock.now());
        const [event_id, delivery_id] = [ids.next(), ids.next()];
        const message = { tenant_id, webhook_id, url, type, event_id, run_id: null };
        const body = renderSampleBody(type, { webhook_id, now, metadata });
        await insertMissingDeliveries(
          database,
          [{ ...message, delivery_id, body, ...deliveryDestination(message) }],
          disableAfterSeconds(services),
        );
        return renderDelivery({ ...message, delivery_id, body, ...NEW_DELIVERY_STATE, created_at: now });
      },
      async replay(id, { from, to, only_failed }) {
        const { tenant_id, webhook_id, enabled } = await findOwn(id);
        if (!enabled) throw new Fault("conflict", { retryable: false, reason: "webhook_disabled" });
        const range = { from_at: new Date(from), to_at: new Date(to ?? clock.now()) };
        const row = await insertReplay(database, {
          replay_id: ids.next(),
          tenant_id,
          webhook_id,
          ...range,
          only_failed,
        });
        return {
          ...{ id: row.replay_id, webhook_id, only_failed, created_at: row.created_at.toISOString() },
          ...{ from: row.from_at.toISOString(), to: row.to_at.toISOString() },
        };
      },
      ...createDeliveryStore(services, context),
    },
    listeners: createListenerStore(services, context),
  };
}

const NEW_DELIVERY_STATE = { status: "pending", attempts: 0, next_attempt_at: null, finished_at: null } as const;

function requireWebhook(row: WebhookRow | undefined): WebhookRow {
  if (!row) throw new Fault("route_not_found");
  return row;
}

/** A replay returns the endpoint without its secret. */
async function createWebhookIdempotently(
  services: WebhookStoreDependencies,
  context: RequestContext,
  { secret: given, ...draft }: WebhookDraft & { secret?: string | undefined },
) {
  const { secretCipher, ids } = services;
  const { database, caller } = context;
  assertNotAccessToken(caller);
  checkWebhookUrl(services.httpClient, draft.url);
  const [webhook_id, secret] = [ids.next(), given ?? generateWebhookSecret()];
  const secretId = { tenant_id: caller.tenant_id, owner_id: webhook_id, secret_id: ids.next() };
  const encrypted = secretCipher.encrypt(secretId, secret);
  const { url, events, description = null } = draft;
  const renderNew = (row: WebhookRow | undefined, shownSecret: string | null): NewWebhook | undefined =>
    row && { ...renderWebhook(services, row), secret: shownSecret };
  return createOnce(context, {
    operation: "webhooks.create",
    kind: "webhook",
    input: { ...draft, secret: given },
    async create(idempotency) {
      const newRow = { webhook_id, url, events, description, secret: encrypted, idempotency };
      return renderNew(await insertWebhook(database, caller, newRow), given === undefined ? secret : null);
    },
    find: async (webhookId) => renderNew(await findWebhook(database, caller.tenant_id, webhookId), null),
    explainRefusal: () =>
      new Fault("conflict", { retryable: false, reason: "too_many_webhooks", most: MAX_WEBHOOKS_PER_TENANT }),
  });
}

const UNIQUE_VIOLATION = "23505";

async function rotateSecret(
  { secretCipher, ids }: Pick<WebhookStoreDependencies, "secretCipher" | "ids">,
  { database, caller }: RequestContext,
  ownerId: string,
  { secret: given, overlap_seconds }: SecretRotation,
) {
  const secret = given ?? generateWebhookSecret();
  const secretId = { tenant_id: caller.tenant_id, owner_id: ownerId, secret_id: ids.next() };
  const encrypted = secretCipher.encrypt(secretId, secret);
  const endsAt = await replaceSecret(database, caller, encrypted, overlap_seconds).catch((thrown) => {
    // A concurrent request has rotated the secret.
    throw (thrown as { code?: string }).code === UNIQUE_VIOLATION
      ? new Fault("conflict", {}, { cause: thrown })
      : thrown;
  });
  return { secret: given === undefined ? secret : null, old_secret_ends_at: endsAt?.toISOString() ?? null };
}

const toTimestamp = (at: Date | null) => at?.toISOString() ?? null;

const renderWebhook = ({ keysUrl }: Pick<WebhookService, "keysUrl">, row: WebhookRow): Webhook => ({
  id: row.webhook_id,
  url: row.url,
  events: row.events as WebhookEventType[],
  description: row.description,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  disabled_at: toTimestamp(row.disabled_at),
  failing_since: toTimestamp(row.failing_since),
  public_keys_url: keysUrl(row.tenant_id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
