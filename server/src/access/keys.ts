// What the operations on API keys have in common: which keys a caller sees, which it may change, and how they are
// shown. A key can only create keys with the same or narrower scopes, limits and expiry, and cannot change itself
// except to revoke itself. Keys form a tree: a key made with a key is its child and counts against its limits.

import type { AccessLimits, ApiKey } from "../contract/schemas/access.ts";
import { type ApiKeyRow, findApiKey, type KeyPlace, listKeyPlaces, type NewApiKeyRow } from "../db/access/api-keys.ts";
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults/faults.ts";
import type { AccessDependencies } from "./access-dependencies.ts";
import { apiKeyHint, generateApiKey, hashApiKey } from "./api-key.ts";
import { assertCanDelegate, assertMayManage } from "./delegation.ts";
import type { RequestContext } from "./request-context.ts";

type Scope = Pick<RequestContext, "database" | "caller">;

/** The user whose keys are visible; undefined for an owner, who sees the keys of all users. */
export const visibleUserId = ({ role, user_id }: Caller): string | undefined =>
  role === "owner" ? undefined : user_id;

export async function findVisibleKey({ database, caller }: Scope, keyId: string): Promise<ApiKeyRow> {
  const row = await findApiKey(database, caller.tenant_id, keyId, visibleUserId(caller));
  if (!row) throw new Fault("route_not_found");
  return row;
}

/** A key that the caller may change: another key, with at most the caller's permissions. */
export async function findManageableKey(scope: Scope, keyId: string): Promise<ApiKeyRow> {
  const { caller } = scope;
  const row = await findVisibleKey(scope, keyId);
  assertCanDelegate(caller, row);
  if (row.key_id === caller.key_id) throw new Fault("permission_denied", { reason: "own_key" });
  assertMayManage(caller, row);
  if (row.revoked_at) throw new Fault("conflict", { retryable: false, reason: "revoked" });
  return row;
}

type NewSecret = Pick<NewApiKeyRow, "key_id" | "digest" | "hint"> & { key: string };

export function newApiKeyRow({ ids, cell }: Pick<AccessDependencies, "ids" | "cell">): NewSecret {
  const key = generateApiKey(cell);
  return { key_id: ids.next(), key, digest: hashApiKey(key), hint: apiKeyHint(key) };
}

const toTimestamp = (at: Date | null) => at?.toISOString() ?? null;

export async function renderApiKeys({ database, caller }: Scope, rows: ApiKeyRow[]): Promise<ApiKey[]> {
  const keyIds = rows.map(({ key_id }) => key_id);
  const places = rows.length === 0 ? new Map() : await listKeyPlaces(database, caller.tenant_id, keyIds);
  return rows.map((row) => renderApiKey(row, places.get(row.key_id)));
}

export const renderOneKey = async (scope: Scope, row: ApiKeyRow): Promise<ApiKey> =>
  (await renderApiKeys(scope, [row]))[0]!;

const ROOT: KeyPlace = { parent_key_id: null, descendants: 0 };

export const renderApiKey = ({ key_id, limits, ...row }: ApiKeyRow, place = ROOT): ApiKey => ({
  id: key_id,
  name: row.name,
  hint: row.hint,
  user_id: row.user_id,
  scopes: row.scopes,
  limits: limits as AccessLimits,
  created_at: row.created_at.toISOString(),
  expires_at: toTimestamp(row.expires_at),
  last_used_at: toTimestamp(row.last_used_at),
  revoked_at: toTimestamp(row.revoked_at),
  replaced_by: row.replaced_by,
  ...place,
});
