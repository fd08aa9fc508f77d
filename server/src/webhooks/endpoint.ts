// What the operations on webhook endpoints have in common: finding one of the caller's tenant, rendering it, and
// replacing a secret. A generated secret is returned once; a secret that the caller provided is never returned.
import type { RequestContext } from "../access/request-context.ts";
import type { Webhook, WebhookEventType } from "../contract/schemas/webhooks.ts";
import { findWebhook, type WebhookRow } from "../db/webhooks/endpoints.ts";
import { replaceSecret } from "../db/webhooks/secrets.ts";
import { Fault } from "../faults/faults.ts";
import type { Ids } from "../runtime/clock.ts";
import { generateWebhookSecret } from "./signing-secrets.ts";
import type { WebhookService } from "./webhook-service.ts";

export const findOwnWebhook = async ({ database, caller }: RequestContext, id: string): Promise<WebhookRow> =>
  requireWebhook(await findWebhook(database, caller.tenant_id, id));

export function requireWebhook(row: WebhookRow | undefined): WebhookRow {
  if (!row) throw new Fault("route_not_found");
  return row;
}

export type RotationDependencies = Pick<WebhookService, "secretCipher"> & { ids: Ids };
type SecretRotation = { secret?: string | undefined; overlap_seconds: number };

const UNIQUE_VIOLATION = "23505";

export async function rotateSecret(
  { secretCipher, ids }: RotationDependencies,
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

export const renderWebhook = ({ keysUrl }: Pick<WebhookService, "keysUrl">, row: WebhookRow): Webhook => ({
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
