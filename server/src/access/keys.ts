// API keys of one caller: create (the secret is returned once), update, rotate, revoke. A key can only create keys with the same or
// narrower scopes, limits and expiry, and cannot change itself except to revoke itself.
import { createHash } from "node:crypto";
import {
  type ApiKeyRow,
  findApiKey,
  insertApiKey,
  listApiKeys,
  type NewApiKeyRow,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from "../db/access/api-keys.ts";
import { findIdempotencyKey } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessServices, ApiKeyDraft } from "../kit/access-services.ts";
import type { AccessLimits, ApiKey, NewApiKey } from "../kit/schemas/access.ts";
import { apiKeyHint, generateApiKey, hashApiKey } from "./api-key.ts";
import { assertCanDelegate, assertNotAccessToken, inheritLimits } from "./delegation.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

export function createKeyStore(desk: RequestContext): AccessServices["keys"] {
  const { db, caller, cursors } = desk;
  /** Whose keys the caller may see; undefined for everybody's. */
  const of = caller.role === "owner" ? undefined : caller.user_id;
  const findVisibleKey = async (keyId: string): Promise<ApiKeyRow> => {
    const row = await findApiKey(db, caller.tenant_id, keyId, of);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  /** A key that the caller may change: it has nothing that the caller has not, and it is another one. */
  const findManageableKey = async (keyId: string): Promise<ApiKeyRow> => {
    const row = await findVisibleKey(keyId);
    assertCanDelegate(caller, row);
    if (row.key_id === caller.key_id) throw new Fault("permission_denied", { reason: "own_key" });
    if (row.revoked_at) throw new Fault("conflict", { retryable: false, reason: "revoked" });
    return row;
  };

  return {
    create: (draft) => createKeyIdempotently(desk, draft),
    get: async (keyId) => renderApiKey(await findVisibleKey(keyId)),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["keys", caller.tenant_id, of],
        read: (before, limit) => listApiKeys(db, caller.tenant_id, { before, of }, limit),
        cursorId: (row) => row.key_id,
        show: renderApiKey,
      }),

    async update(keyId, { expires_at, ...change }) {
      const seen = await findManageableKey(keyId);
      const until = expires_at === undefined ? undefined : (expires_at && new Date(expires_at)) || null;
      const asked = { ...change, ...(until !== undefined && { expires_at: until }) };
      const limits = change.limits && inheritLimits(caller, change.limits);
      assertCanDelegate(caller, { ...seen, ...asked, limits: limits ?? seen.limits });
      const row = await updateApiKey(db, caller, seen, { ...asked, ...(limits && { limits }) });
      if (!row) throw new Fault("conflict");
      desk.keys.forget();
      return renderApiKey(row);
    },

    async rotate(keyId, overlapSeconds) {
      const old = await findManageableKey(keyId);
      const { key, ...secret } = newApiKeyRow(desk);
      const row = await rotateApiKey(db, caller, { ...secret, old, overlapSeconds });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "not_in_force" });
      desk.keys.forget();
      return { ...renderApiKey(row), key };
    },

    async revoke(keyId) {
      const row = await findVisibleKey(keyId);
      assertNotAccessToken(caller);
      if (row.key_id !== caller.key_id)
        assertCanDelegate(caller, { ...row, limits: caller.limits, expires_at: caller.expires_at });
      await revokeApiKey(db, caller, keyId, desk.newId());
      desk.keys.forget();
      return renderApiKey(await findVisibleKey(keyId));
    },
  };
}

/** The same Idempotency-Key makes one key. Asked again it answers that key without its secret, which nobody has any more. */
async function createKeyIdempotently(desk: RequestContext, draft: ApiKeyDraft): Promise<NewApiKey> {
  const { db, caller, idempotencyKey } = desk;
  const user_id = draft.user_id ?? caller.user_id;
  const expires_at = draft.expires_at ? new Date(draft.expires_at) : caller.expires_at;
  const limits = inheritLimits(caller, draft.limits);
  assertCanDelegate(caller, { scopes: draft.scopes, limits, expires_at });
  if (user_id !== caller.user_id && caller.role !== "owner")
    throw new Fault("permission_denied", { role: caller.role });
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["keys.create", draft]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const { key, ...secret } = newApiKeyRow(desk);
  const { name, scopes } = draft;
  const row = await insertApiKey(db, caller, { ...secret, user_id, name, scopes, limits, expires_at, idempotency });
  if (row) return { ...renderApiKey(row), key };
  const known = idempotency && (await findIdempotencyKey(db, caller.tenant_id, idempotency.key));
  if (!known) throw new Fault("route_not_found");
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const made = await findApiKey(db, caller.tenant_id, known.resource_id, undefined);
  if (!made) throw new Fault("idempotency_in_progress");
  desk.onReplay?.();
  return { ...renderApiKey(made), key: null };
}

export function newApiKeyRow({
  newId,
}: Pick<RequestContext, "newId">): Pick<NewApiKeyRow, "key_id" | "digest" | "hint"> & { key: string } {
  const key = generateApiKey();
  return { key_id: newId(), key, digest: hashApiKey(key), hint: apiKeyHint(key) };
}

const time = (at: Date | null) => at?.toISOString() ?? null;

export const renderApiKey = ({ key_id, limits, ...row }: ApiKeyRow): ApiKey => ({
  id: key_id,
  name: row.name,
  hint: row.hint,
  user_id: row.user_id,
  scopes: row.scopes,
  limits: limits as AccessLimits,
  created_at: row.created_at.toISOString(),
  expires_at: time(row.expires_at),
  last_used_at: time(row.last_used_at),
  revoked_at: time(row.revoked_at),
  replaced_by: row.replaced_by,
});
