// API keys of one caller: create (the secret is returned once), update, rotate, revoke. A key can only create keys with
// the same or narrower scopes, limits and expiry, and cannot change itself except to revoke itself. Keys form a tree: a
// key made with a key is its child, counts against its limits, and is revoked with it.
import {
  type ApiKeyRow,
  findApiKey,
  insertApiKey,
  type KeyPlace,
  listApiKeys,
  listKeyPlaces,
  listKeysAbove,
  type NewApiKeyRow,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from "../db/access/api-keys.ts";
import { Fault } from "../faults.ts";
import { createOnce } from "../idempotency/create-once.ts";
import type { AccessServices, ApiKeyDraft } from "../kit/access-services.ts";
import type { Ids } from "../kit/clock.ts";
import type { AccessLimits, ApiKey, NewApiKey } from "../kit/schemas/access.ts";
import { apiKeyHint, generateApiKey, hashApiKey } from "./api-key.ts";
import {
  assertCanDelegate,
  assertIsBelow,
  assertMayKeepChildren,
  assertMayManage,
  assertNotAbove,
  assertNotAccessToken,
  assertWithin,
  inheritLimits,
  parentOfNewKey,
} from "./delegation.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

type Dependencies = { ids: Ids; cell: string; invalidateCredentials(): void };

export function createKeyStore(
  dependencies: Dependencies,
  context: RequestContext,
): Omit<AccessServices["keys"], "issueToken"> {
  const { database, caller, cursors } = context;
  /** The user whose keys are visible; undefined for an owner, who sees the keys of all users. */
  const visibleUserId = caller.role === "owner" ? undefined : caller.user_id;
  const findVisibleKey = async (keyId: string): Promise<ApiKeyRow> => {
    const row = await findApiKey(database, caller.tenant_id, keyId, visibleUserId);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  /** A key that the caller may change: another key, with at most the caller's permissions. */
  const findManageableKey = async (keyId: string): Promise<ApiKeyRow> => {
    const row = await findVisibleKey(keyId);
    assertCanDelegate(caller, row);
    if (row.key_id === caller.key_id) throw new Fault("permission_denied", { reason: "own_key" });
    assertMayManage(caller, row);
    if (row.revoked_at) throw new Fault("conflict", { retryable: false, reason: "revoked" });
    return row;
  };
  const render = async (row: ApiKeyRow): Promise<ApiKey> => (await renderApiKeys(context, [row]))[0]!;

  return {
    create: (draft) => createKeyIdempotently(dependencies, context, draft),
    get: async (keyId) => render(await findVisibleKey(keyId)),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["keys", caller.tenant_id, visibleUserId],
        async read(before, limit) {
          const rows = await listApiKeys(database, caller.tenant_id, { before, of: visibleUserId }, limit);
          return renderApiKeys(context, rows);
        },
        cursorId: ({ id }) => id,
        render: (key) => key,
      }),

    async update(keyId, { expires_at, ...change }) {
      const current = await findManageableKey(keyId);
      const until = expires_at === undefined ? undefined : (expires_at && new Date(expires_at)) || null;
      const requested = { ...change, ...(until !== undefined && { expires_at: until }) };
      const above = await listKeysAbove(database, caller.tenant_id, current);
      const limits = change.limits && inheritLimits([caller, ...above], change.limits);
      assertCanDelegate(caller, { ...current, ...requested, limits: limits ?? current.limits });
      for (const key of above) assertWithin(key, { ...requested, ...(limits && { limits }) });
      const row = await updateApiKey(database, caller, current, { ...requested, ...(limits && { limits }) });
      if (!row) throw new Fault("conflict");
      dependencies.invalidateCredentials();
      return render(row);
    },

    async rotate(keyId, overlapSeconds) {
      const old = await findManageableKey(keyId);
      const { key, ...secret } = newApiKeyRow(dependencies);
      const row = await rotateApiKey(database, caller, { ...secret, old, overlapSeconds });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "not_in_force" });
      dependencies.invalidateCredentials();
      return { ...(await render(row)), key };
    },

    async revoke(keyId, { keep_children = false, keep_keys = [] } = {}) {
      const row = await findVisibleKey(keyId);
      assertNotAccessToken(caller);
      if (row.key_id !== caller.key_id)
        assertCanDelegate(caller, { ...row, limits: caller.limits, expires_at: caller.grants_until });
      assertNotAbove(caller, row);
      if (keep_children || keep_keys.length > 0) assertMayKeepChildren(caller, row);
      // Before anything ends: a mistyped ID must not end the key that should stay.
      for (const kept of await Promise.all(keep_keys.map(findVisibleKey))) assertIsBelow(row, kept);
      const kept = { keepChildren: keep_children, keptKeyIds: keep_keys };
      await revokeApiKey(database, caller, { keyId, eventId: dependencies.ids.next(), ...kept });
      dependencies.invalidateCredentials();
      return render(await findVisibleKey(keyId));
    },
  };
}

/** A replay returns the key without its secret, because only the digest is stored. */
async function createKeyIdempotently(
  dependencies: Dependencies,
  context: RequestContext,
  draft: ApiKeyDraft,
): Promise<NewApiKey> {
  const { database, caller } = context;
  const user_id = draft.user_id ?? caller.user_id;
  const expires_at = draft.expires_at ? new Date(draft.expires_at) : caller.grants_until;
  const limits = inheritLimits([...caller.ancestors, caller], draft.limits);
  const parent_key_id = parentOfNewKey(caller);
  assertCanDelegate(caller, { scopes: draft.scopes, limits, expires_at });
  if (user_id !== caller.user_id && caller.role !== "owner")
    throw new Fault("permission_denied", { role: caller.role });
  const { key, ...secret } = newApiKeyRow(dependencies);
  const { name, scopes } = draft;
  return createOnce<NewApiKey>(context, {
    operation: "keys.create",
    kind: "api_key",
    input: draft,
    async create(idempotency) {
      const newRow = { ...secret, user_id, name, scopes, limits, expires_at, parent_key_id, idempotency };
      const row = await insertApiKey(database, caller, newRow);
      return row && { ...(await renderApiKeys(context, [row]))[0]!, key };
    },
    async find(keyId) {
      const row = await findApiKey(database, caller.tenant_id, keyId, undefined);
      return row && { ...(await renderApiKeys(context, [row]))[0]!, key: null };
    },
    explainRefusal: () => new Fault("route_not_found"),
  });
}

type NewSecret = Pick<NewApiKeyRow, "key_id" | "digest" | "hint"> & { key: string };

export function newApiKeyRow({ ids, cell }: Pick<Dependencies, "ids" | "cell">): NewSecret {
  const key = generateApiKey(cell);
  return { key_id: ids.next(), key, digest: hashApiKey(key), hint: apiKeyHint(key) };
}

const toTimestamp = (at: Date | null) => at?.toISOString() ?? null;

async function renderApiKeys(
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  rows: ApiKeyRow[],
): Promise<ApiKey[]> {
  const keyIds = rows.map(({ key_id }) => key_id);
  const places = rows.length === 0 ? new Map() : await listKeyPlaces(database, caller.tenant_id, keyIds);
  return rows.map((row) => renderApiKey(row, places.get(row.key_id)));
}

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
