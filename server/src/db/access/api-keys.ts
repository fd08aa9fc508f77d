// API keys and their holders. Only the digest of a key is stored. Every change is recorded in the audit log by the
// statement that makes it.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import type { Role } from "../typed-columns.ts";
import { type Actor, actorParameters } from "./audit-log.ts";
import type { LimitHolder } from "./caller.ts";

/** What authentication needs to know of a key. */
export type KeyHolder = {
  key_id: string;
  tenant_id: string;
  user_id: string;
  role: Role;
  scopes: string[];
  limits: JsonObject;
  /** The first key of its rotation, or its own ID. */
  holder_id: string;
  /** The keys it was made with, from the root. */
  ancestors: (LimitHolder & { scopes: string[] })[];
  /** When it or a key above it expires. */
  expires_at: Date | null;
  weight: number;
  tenant_limits: JsonObject;
  is_suspended: boolean;
};

const isInForce = (key: string) =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > now())`;

/** A key is valid as long as all keys above it are. Of a key above it that was rotated, the newest one counts. */
const findHolderSql = (condition: string) => `
  select api_keys.key_id, tenant_id, user_id, members.role, api_keys.scopes, api_keys.limits,
    key_holder(api_keys.key_id, holder_ids) as holder_id, above.ancestors,
    least(api_keys.expires_at, above.expires_at) as expires_at, tenants.weight,
    tenants.limits as tenant_limits, tenants.suspended_at is not null as is_suspended
  from api_keys join members using (tenant_id, user_id) join tenants using (tenant_id)
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('holder_id', holder_id, 'limits', valid.limits, 'scopes', valid.scopes)
        order by place), '[]') as ancestors,
      min(valid.expires_at) as expires_at, bool_and(valid.limits is not null) as are_valid
    from unnest(keys_above(api_keys.holder_ids)) with ordinality as own (holder_id, place)
    left join lateral (
      select one.limits, one.scopes, one.expires_at from api_keys as one
      where (one.key_id = own.holder_id or one.holder_ids @> array[own.holder_id])
        and key_holder(one.key_id, one.holder_ids) = own.holder_id and one.tenant_id = api_keys.tenant_id
        and ${isInForce("one")}
      order by one.replaced_by is not null, one.key_id desc limit 1
    ) as valid on true
  ) as above
  where ${condition} and ${isInForce("api_keys")} and removed_at is null and are_valid is not false`;

type HolderColumns = Pick<KeyHolder, "holder_id" | "ancestors" | "expires_at" | "is_suspended">;
const FIND_HOLDER = statement("keys.find_holder", findHolderSql("api_keys.digest = :digest")).columns<HolderColumns>();
const FIND_HOLDER_BY_ID = statement(
  "keys.find_holder_by_id",
  findHolderSql("api_keys.key_id = :key_id"),
).columns<HolderColumns>();

/** The holder of an active key, of any tenant. */
export async function findKeyHolder(
  db: Database,
  key: { digest: Buffer } | { key_id: string },
): Promise<KeyHolder | undefined> {
  const [row] =
    "digest" in key
      ? await db.execute(FIND_HOLDER, { digest: key.digest })
      : await db.execute(FIND_HOLDER_BY_ID, { key_id: key.key_id });
  return row;
}

const RECORD_USE = statement(
  "keys.record_use",
  `update api_keys set last_used_at = now()
   where key_id = :key_id and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
);

/** Records the last use of a key, to the minute: more precision would cost a write per request. */
export async function recordKeyUse(db: Database, keyId: string): Promise<void> {
  await db.execute(RECORD_USE, { key_id: keyId });
}

export type ApiKeyRow = {
  key_id: string;
  user_id: string;
  name: string;
  hint: string;
  scopes: string[];
  limits: JsonObject;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
  replaced_by: string | null;
  /** The keys whose limits count its use: those it was made with, from the root, and itself. Empty: only itself. */
  holder_ids: string[];
};
const API_KEY_COLUMNS =
  "key_id, user_id, name, hint, scopes, limits, created_at, expires_at, last_used_at, revoked_at, replaced_by, holder_ids";

export type NewApiKeyRow = Pick<
  ApiKeyRow,
  "key_id" | "user_id" | "name" | "hint" | "scopes" | "limits" | "expires_at"
> & {
  digest: Buffer;
  /** The key it is made with; null for a root. */
  parent_key_id: string | null;
  idempotency?: NewIdempotencyKey | undefined;
};

const INSERT = statement(
  "keys.insert",
  `with member as materialized (
     select user_id, holders_of_new_key(:tenant_id, :key_id, :parent_key_id?) as holder_ids from members
     where tenant_id = :tenant_id and user_id = :user_id and removed_at is null
   ), placed as materialized (
     select user_id, holder_ids from member where holder_ids is not null
   ), ${insertIdempotencyKeySql({ kind: "api_key", resource: ":key_id", from: "placed" })}, inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at, holder_ids)
     select :key_id, :tenant_id, user_id, :name, :digest, :hint, :scopes, :limits, :expires_at?, holder_ids from placed
     where ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${API_KEY_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'keys.create', key_id::text, jsonb_build_object(
       'user_id', user_id, 'scopes', scopes, 'limits', limits, 'expires_at', expires_at,
       'parent_key_id', :parent_key_id?::uuid)
     from inserted
   )
   select ${API_KEY_COLUMNS} from inserted`,
);

/** Undefined if another request holds the idempotency key, or if there is no such member or no valid parent. */
export async function insertApiKey(db: Database, actor: Actor, key: NewApiKeyRow): Promise<ApiKeyRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    key_id: key.key_id,
    user_id: key.user_id,
    name: key.name,
    digest: key.digest,
    hint: key.hint,
    parent_key_id: key.parent_key_id,
    scopes: key.scopes,
    limits: key.limits,
    expires_at: key.expires_at,
    ...idempotencyParameters(key.idempotency),
  });
  return row;
}

const FIND = statement(
  "keys.find",
  `select ${API_KEY_COLUMNS} from api_keys
   where tenant_id = :tenant_id and key_id = :key_id and (:user_id?::text is null or user_id = :user_id?)`,
);

/** `userId`: only keys of this member. */
export async function findApiKey(
  db: Database,
  tenantId: string,
  keyId: string,
  userId: string | undefined,
): Promise<ApiKeyRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, key_id: keyId, user_id: userId });
  return row;
}

const LIST = statement(
  "keys.list",
  `select ${API_KEY_COLUMNS} from api_keys
   where tenant_id = :tenant_id and (:before?::uuid is null or key_id < :before?)
     and (:user_id?::text is null or user_id = :user_id?)
   order by key_id desc limit :limit`,
);

/** Newest first, with keyset pagination. `of`: only keys of this member. */
export async function listApiKeys(
  db: Database,
  tenantId: string,
  { before, of: userId }: { before?: string | undefined; of?: string | undefined },
  limit: number,
): Promise<ApiKeyRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, before, user_id: userId, limit });
}

/** What the tree of keys says about a key. `descendants`: keys in force that its revocation takes along. */
export type KeyPlace = { parent_key_id: string | null; descendants: number };

const LIST_PLACES = statement(
  "keys.list_places",
  `with keys as materialized (
     select key_id, key_holder(key_id, holder_ids) as holder_id, holder_ids[cardinality(holder_ids) - 1] as parent_id,
       holder_ids, replaced_by, ${isInForce("api_keys")} as is_in_force
     from api_keys where tenant_id = :tenant_id
   ), newest as (
     select distinct on (holder_id) holder_id, key_id from keys
     order by holder_id, replaced_by is not null, key_id desc
   ), below as (
     select above.holder_id, count(*)::int as descendants
     from keys cross join unnest(keys_above(holder_ids)) as above (holder_id)
     where is_in_force group by above.holder_id
   )
   select keys.key_id, case when newest.key_id is not null then newest.key_id end as parent_key_id,
     case when keys.replaced_by is null then coalesce(descendants, 0) else 0 end as descendants
   from keys left join newest on newest.holder_id = keys.parent_id left join below on below.holder_id = keys.holder_id
   where keys.key_id = any(:key_ids::uuid[])`,
).columns<KeyPlace>();

/** By the ID of the key. The parent is the newest key of its rotation. */
export async function listKeyPlaces(db: Database, tenantId: string, keyIds: string[]): Promise<Map<string, KeyPlace>> {
  const rows = await db.execute(LIST_PLACES, { tenant_id: tenantId, key_ids: keyIds });
  return new Map(rows.map(({ key_id, ...place }) => [key_id, place]));
}

const LIST_ABOVE = statement(
  "keys.list_above",
  `select distinct on (key_holder(key_id, holder_ids)) scopes, limits, expires_at from api_keys
   where tenant_id = :tenant_id and key_holder(key_id, holder_ids) = any(:holder_ids::uuid[]) and ${isInForce("api_keys")}
   order by key_holder(key_id, holder_ids), replaced_by is not null, key_id desc`,
);

/** The rights of the keys above a key. */
export async function listKeysAbove(
  db: Database,
  tenantId: string,
  { holder_ids }: Pick<ApiKeyRow, "holder_ids">,
): Promise<Pick<ApiKeyRow, "scopes" | "limits" | "expires_at">[]> {
  const above = holder_ids.slice(0, -1);
  return above.length === 0 ? [] : db.execute(LIST_ABOVE, { tenant_id: tenantId, holder_ids: above });
}

export type ApiKeyChange = Partial<Pick<ApiKeyRow, "name" | "scopes" | "limits" | "expires_at">>;

const UPDATE = statement(
  "keys.update",
  `with changed as (
     update api_keys set name = coalesce(:name?, name), scopes = coalesce(:scopes?::text[], scopes),
       limits = coalesce(:limits?::jsonb, limits),
       expires_at = case when :has_expires_at then :expires_at?::timestamptz else expires_at end, updated_at = now()
     where tenant_id = :tenant_id and key_id = :key_id and scopes = :expected_scopes::text[] and revoked_at is null
     returning ${API_KEY_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'keys.update', key_id::text, :audited_change::jsonb
     from changed
   )
   select ${API_KEY_COLUMNS} from changed`,
);

/** Undefined if there is no such active key, or if its scopes changed since `expected` was read. */
export async function updateApiKey(
  db: Database,
  actor: Actor,
  expected: Pick<ApiKeyRow, "key_id" | "scopes">,
  change: ApiKeyChange,
): Promise<ApiKeyRow | undefined> {
  const [row] = await db.execute(UPDATE, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    key_id: expected.key_id,
    expected_scopes: expected.scopes,
    name: change.name,
    scopes: change.scopes,
    limits: change.limits,
    has_expires_at: change.expires_at !== undefined,
    expires_at: change.expires_at,
    audited_change: { ...change, name: undefined, fields: Object.keys(change).sort() },
  });
  return row;
}

const ROTATE = statement(
  "keys.rotate",
  `with locked as materialized (
     select lock_key_tree(:tenant_id) as done
   ), old as (
     select key_id, tenant_id, user_id, name, scopes, limits, expires_at, key_holders(key_id, holder_ids) as holder_ids
     from locked cross join api_keys
     where tenant_id = :tenant_id and key_id = :old_key_id and scopes = :expected_scopes::text[] and revoked_at is null
       and replaced_by is null and (expires_at is null or expires_at > now())
     for update of api_keys
   ), ending as (
     update api_keys set replaced_by = :key_id, updated_at = now(),
       expires_at = least(old.expires_at, now() + make_interval(secs => :overlap_seconds))
     from old where api_keys.key_id = old.key_id
   ), inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at, holder_ids)
     select :key_id, tenant_id, user_id, name, :digest, :hint, scopes, limits, expires_at, holder_ids from old
     returning ${API_KEY_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'keys.rotate', :old_key_id::text,
       jsonb_build_object('replaced_by', :key_id::uuid, 'overlap_seconds', :overlap_seconds)
     from inserted
   )
   select ${API_KEY_COLUMNS} from inserted`,
);

/**
 * Inserts a key with the rights of the old one, which expires after the overlap, and with its place in the tree.
 * Undefined if the old key is not
 * active.
 */
export async function rotateApiKey(
  db: Database,
  actor: Actor,
  {
    old,
    overlapSeconds,
    ...key
  }: Pick<NewApiKeyRow, "key_id" | "digest" | "hint"> & {
    old: Pick<ApiKeyRow, "key_id" | "scopes">;
    overlapSeconds: number;
  },
): Promise<ApiKeyRow | undefined> {
  const [row] = await db.execute(ROTATE, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    old_key_id: old.key_id,
    expected_scopes: old.scopes,
    key_id: key.key_id,
    digest: key.digest,
    hint: key.hint,
    overlap_seconds: overlapSeconds,
  });
  return row;
}

const REVOKE = statement(
  "keys.revoke",
  `with changed as materialized (
     select key_id, name, hint, user_id, revoked_at
     from revoke_key_tree(:tenant_id, :key_id, :keep_children, :kept_key_ids::uuid[])
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, data)
     select event_id, event_id, :tenant_id, 'api_key.revoked', jsonb_build_object('key_id', key_id, 'name', name,
       'hint', hint, 'user_id', user_id, 'revoked_by', :actor_user_id::text, 'revoked_at', revoked_at)
     from changed cross join lateral (
       select case when key_id = :key_id then :event_id::uuid else
         (substr(:event_id::uuid::text, 1, 24) || right(md5(key_id::text || :event_id::uuid::text), 12))::uuid end
         as event_id
     ) as own
     where revoked_at is not null
   )
   insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
   select :tenant_id, :actor_user_id, :actor_key_id?,
     case when revoked_at is null then 'keys.keep' else 'keys.revoke' end, key_id::text,
     case when key_id = :key_id then '{}' else jsonb_build_object('revoked_parent', :key_id::uuid) end
   from changed order by key_id`,
);

/** `keepChildren`: all keys made with it stay valid, or `keptKeyIds` of them. */
export type KeptKeys = { keepChildren: boolean; keptKeyIds: string[] };

/**
 * Revokes a key with its descendants, except those that are kept, which move to the nearest key above that stays. The
 * audit log has an entry for each. Idempotent: revoking a revoked key changes nothing and inserts no second event.
 */
export async function revokeApiKey(
  db: Database,
  actor: Actor,
  { keyId, eventId, keepChildren, keptKeyIds }: KeptKeys & { keyId: string; eventId: string },
): Promise<void> {
  await db.execute(REVOKE, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    key_id: keyId,
    event_id: eventId,
    keep_children: keepChildren,
    kept_key_ids: keptKeyIds,
  });
}
