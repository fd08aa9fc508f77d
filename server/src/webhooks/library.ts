// Webhooks in the name of one caller: made, changed, tried out and taken away. A secret is shown where it was made, that
// once; one that a caller gave is never shown at all.
import { createHash } from "node:crypto";
import { pageOf } from "../access/pages.ts";
import { refuseTokens } from "../access/rights.ts";
import { findKey } from "../db/runs.ts";
import { insertMissing } from "../db/webhook-deliveries.ts";
import { addReplay } from "../db/webhook-replays.ts";
import { NIL_ID, replaceSecret } from "../db/webhook-secrets.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  MOST_WEBHOOKS,
  type WebhookRow,
} from "../db/webhooks.ts";
import { Fault } from "../faults.ts";
import type { NewWebhook, Webhook, WebhookEventType } from "../kit/shapes-webhooks.ts";
import type { Rotation, WebhookDraft, WebhookLibrary } from "../kit/webhooks.ts";
import type { Counter } from "./counter.ts";
import { checkAddress } from "./door.ts";
import { listenersOf } from "./listeners.ts";
import { deliveriesOf, showDelivery } from "./log.ts";
import { failingSeconds, type Office } from "./office.ts";
import { routeOf } from "./route.ts";
import { sampleBody } from "./sample.ts";
import { newSecret } from "./secrets.ts";

export function webhooksOf(counter: Counter): WebhookLibrary {
  const { db, caller, cursors, newId } = counter;
  const own = async (id: string): Promise<WebhookRow> => mustBe(await findWebhook(db, caller.tenant_id, id));
  const show = (row: WebhookRow) => showWebhook(counter, row);

  return {
    create: (draft) => createOnce(counter, draft),
    get: async (id) => show(await own(id)),
    list: (page) =>
      pageOf(cursors, page, {
        scope: ["webhooks", caller.tenant_id],
        read: (before, limit) => listWebhooks(db, caller.tenant_id, before, limit),
        idOf: (row) => row.webhook_id,
        show,
      }),
    async update(id, change) {
      refuseTokens(caller);
      if (change.url !== undefined) checkAddress(counter.poster, change.url);
      const host = change.url === undefined ? undefined : new URL(change.url).hostname;
      return show(mustBe(await changeWebhook(db, caller, id, { ...change, host })));
    },
    async delete(id) {
      refuseTokens(caller);
      return show(mustBe(await deleteWebhook(db, caller, id)));
    },
    async rotate(id, rotation) {
      refuseTokens(caller);
      const row = await own(id);
      return { ...show(row), secret: (await rotate(counter, id, rotation)).secret };
    },
    async rotateOwn(rotation) {
      refuseTokens(caller);
      return rotate(counter, NIL_ID, rotation);
    },
    async test(id, { type, metadata }) {
      const { tenant_id, webhook_id, url } = await own(id);
      const [event_id, delivery_id] = [newId(), newId()];
      const about = { tenant_id, webhook_id, url, type, event_id, run_id: null };
      const body = sampleBody(type, { webhook_id, now: new Date(), metadata });
      await insertMissing(db, [{ ...about, delivery_id, body, ...routeOf(about) }], failingSeconds(counter));
      return showDelivery({ ...about, delivery_id, body, ...FRESH, created_at: new Date() });
    },
    async replay(id, { from, to, only_failed }) {
      const { tenant_id, webhook_id, enabled } = await own(id);
      if (!enabled) throw new Fault("conflict", { retryable: false, reason: "webhook_disabled" });
      const range = { from_at: new Date(from), to_at: to === undefined ? new Date() : new Date(to) };
      const row = await addReplay(db, { replay_id: newId(), tenant_id, webhook_id, ...range, only_failed });
      return {
        ...{ id: row.replay_id, webhook_id, only_failed, created_at: row.created_at.toISOString() },
        ...{ from: row.from_at.toISOString(), to: row.to_at.toISOString() },
      };
    },
    ...deliveriesOf(counter),
    listeners: listenersOf(counter),
  };
}

const FRESH = { status: "pending", attempts: 0, next_attempt_at: null, finished_at: null } as const;

function mustBe(row: WebhookRow | undefined): WebhookRow {
  if (!row) throw new Fault("route_not_found");
  return row;
}

/** The same Idempotency-Key makes one webhook. Asked again it answers that one without its secret. */
async function createOnce(
  counter: Counter,
  { secret: given, ...draft }: WebhookDraft & { secret?: string | undefined },
) {
  const { db, caller, vault, newId, idempotencyKey } = counter;
  refuseTokens(caller);
  checkAddress(counter.poster, draft.url);
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["webhooks.create", draft, given]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const [webhook_id, secret] = [newId(), given ?? newSecret()];
  const sealed = vault.seal({ tenant_id: caller.tenant_id, owner_id: webhook_id, secret_id: newId() }, secret);
  const { url, events, description = null } = draft;
  const row = await createWebhook(db, caller, { webhook_id, url, events, description, secret: sealed, idempotency });
  const shown = (made: WebhookRow, once: string | null): NewWebhook => ({
    ...showWebhook(counter, made),
    secret: once,
  });
  if (row) return shown(row, given === undefined ? secret : null);
  const known = idempotency && (await findKey(db, caller.tenant_id, idempotency.key));
  if (!known) throw new Fault("conflict", { retryable: false, reason: "too_many_webhooks", most: MOST_WEBHOOKS });
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const made = await findWebhook(db, caller.tenant_id, known.run_id);
  if (!made) throw new Fault("idempotency_in_progress");
  counter.onReplay?.();
  return shown(made, null);
}

const TAKEN = "23505";

async function rotate(
  { db, caller, vault, newId }: Counter,
  ownerId: string,
  { secret: given, overlap_seconds }: Rotation,
) {
  const secret = given ?? newSecret();
  const sealed = vault.seal({ tenant_id: caller.tenant_id, owner_id: ownerId, secret_id: newId() }, secret);
  const ends = await replaceSecret(db, sealed, overlap_seconds).catch((thrown) => {
    // Somebody replaced it in the same moment: theirs is the new one.
    throw (thrown as { code?: string }).code === TAKEN ? new Fault("conflict", {}, { cause: thrown }) : thrown;
  });
  return { secret: given === undefined ? secret : null, old_secret_ends_at: ends?.toISOString() ?? null };
}

const time = (at: Date | null) => at?.toISOString() ?? null;

const showWebhook = ({ keysUrl }: Pick<Office, "keysUrl">, row: WebhookRow): Webhook => ({
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
