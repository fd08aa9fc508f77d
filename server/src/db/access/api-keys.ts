// API keys and their holders. Only the digest of a key is stored. Every change is recorded in the audit log by the
// statement that makes it.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import { type Actor, actorParameters } from "./audit-log.ts";
import type { Role } from "./caller.ts";

/** What authentication needs to know of a key. */
export type KeyHolder = {
  key_id: string;
  tenant_id: string;
  user_id: string;
  role: Role;
  scopes: string[];
  limits: JsonObject;
  expires_at: Date | null;
  weight: number;
  tenant_limits: JsonObject;
  is_suspended: boolean;
};

const findHolderSql = (condition: string) => `
  select key_id, tenant_id, user_id, members.role, scopes, api_keys.limits, expires_at, tenants.weight,
    tenants.limits as tenant_limits, tenants.suspended_at is not null as is_suspended
  from api_keys join members using (tenant_id, user_id) join tenants using (tenant_id)
  where ${condition} and revoked_at is null and (expires_at is null or expires_at > now()) and removed_at is null`;

const FIND_HOLDER = statement("keys.find_holder", findHolderSql("digest = :digest")).columns<{
  is_suspended: boolean;
}>();
const FIND_HOLDER_BY_ID = statement("keys.find_holder_by_id", findHolderSql("key_id = :key_id")).columns<{
  is_suspended: boolean;
}>();

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
};
const API_KEY_COLUMNS =
  "key_id, user_id, name, hint, scopes, limits, created_at, expires_at, last_used_at, revoked_at, replaced_by";

export type NewApiKeyRow = Pick<
  ApiKeyRow,
  "key_id" | "user_id" | "name" | "hint" | "scopes" | "limits" | "expires_at"
> & {
  digest: Buffer;
  idempotency?: NewIdempotencyKey | undefined;
};

const INSERT = statement(
  "keys.insert",
  `with member as (
     select user_id from members where tenant_id = :tenant_id and user_id = :user_id and removed_at is null
   ), ${insertIdempotencyKeySql({ kind: "api_key", resource: ":key_id", from: "member" })}, inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at)
     select :key_id, :tenant_id, user_id, :name, :digest, :hint, :scopes, :limits, :expires_at? from member
     where ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${API_KEY_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'keys.create', key_id::text, jsonb_build_object(
       'user_id', user_id, 'scopes', scopes, 'limits', limits, 'expires_at', expires_at)
     from inserted
   )
   select ${API_KEY_COLUMNS} from inserted`,
);

/** Undefined if another request holds the idempotency key, or if there is no such member. */
export async function insertApiKey(db: Database, actor: Actor, key: NewApiKeyRow): Promise<ApiKeyRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    key_id: key.key_id,
    user_id: key.user_id,
    name: key.name,
    digest: key.digest,
    hint: key.hint,
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
  `with old as (
     select key_id, tenant_id, user_id, name, scopes, limits, expires_at from api_keys
     where tenant_id = :tenant_id and key_id = :old_key_id and scopes = :expected_scopes::text[] and revoked_at is null
       and replaced_by is null and (expires_at is null or expires_at > now())
     for update
   ), ending as (
     update api_keys set replaced_by = :key_id, updated_at = now(),
       expires_at = least(old.expires_at, now() + make_interval(secs => :overlap_seconds))
     from old where api_keys.key_id = old.key_id
   ), inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at)
     select :key_id, tenant_id, user_id, name, :digest, :hint, scopes, limits, expires_at from old
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
 * Inserts a key with the rights of the old one, which expires after the overlap. Undefined if the old key is not
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
  `with revoked as (
     update api_keys set revoked_at = now(), updated_at = now()
     where tenant_id = :tenant_id and key_id = :key_id and revoked_at is null
     returning tenant_id, key_id, name, hint, user_id, revoked_at
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, data)
     select :event_id, :event_id, tenant_id, 'api_key.revoked', jsonb_build_object('key_id', key_id, 'name', name,
       'hint', hint, 'user_id', user_id, 'revoked_by', :actor_user_id::text, 'revoked_at', revoked_at)
     from revoked
   )
   insert into audit_log (tenant_id, user_id, key_id, action, subject)
   select :tenant_id, :actor_user_id, :actor_key_id?, 'keys.revoke', key_id::text from revoked`,
);

/** Idempotent: revoking a revoked key changes nothing and inserts no second event. */
export async function revokeApiKey(db: Database, actor: Actor, keyId: string, eventId: string): Promise<void> {
  await db.execute(REVOKE, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    key_id: keyId,
    event_id: eventId,
  });
}
