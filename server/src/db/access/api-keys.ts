// API keys, and the people they stand for. Only digests are here; a secret is never written. Every change is written into
// the log in the same statement.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import type { Role } from "../runs/runs.ts";
import type { Actor } from "./audit-log.ts";

/** Everything that has to be known of a key to let its bearer in. */
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

/** The holder of a key that is in force, whichever tenant's it is. */
export async function findKeyHolder(
  db: Database,
  key: { digest: Buffer } | { key_id: string },
): Promise<KeyHolder | undefined> {
  const [name, condition, value] =
    "digest" in key ? ["keys.holder", "digest = $1", key.digest] : ["keys.holderById", "key_id = $1", key.key_id];
  const [row] = await db.query<KeyHolder>(
    name,
    `select key_id, tenant_id, user_id, members.role, scopes, api_keys.limits, expires_at, tenants.weight,
       tenants.limits as tenant_limits, tenants.suspended_at is not null as is_suspended
     from api_keys join members using (tenant_id, user_id) join tenants using (tenant_id)
     where ${condition} and revoked_at is null and (expires_at is null or expires_at > now()) and removed_at is null`,
    [value],
  );
  return row;
}

/** When a key was last used, to the minute: that is enough for people, and costs next to nothing. */
export async function recordKeyUse(db: Database, keyId: string): Promise<void> {
  await db.query(
    "keys.use",
    `update api_keys set last_used_at = now()
     where key_id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [keyId],
  );
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
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Undefined: the idempotency key is taken, or there is no such member. */
export async function insertApiKey(db: Database, actor: Actor, key: NewApiKeyRow): Promise<ApiKeyRow | undefined> {
  const [row] = await db.query<ApiKeyRow>(
    "keys.create",
    `with once as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $11, $12, $4 where $11::text is not null
       on conflict do nothing returning run_id
     ), made as (
       insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at)
       select $4, $1, user_id, $6, $7, $8, $9, $10, $13 from members
       where tenant_id = $1 and user_id = $5 and removed_at is null
         and ($11::text is null or exists (select from once))
       returning *
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'keys.create', key_id::text,
         jsonb_build_object('name', name, 'user_id', user_id, 'scopes', scopes, 'limits', limits, 'expires_at', expires_at)
       from made
     )
     select ${API_KEY_COLUMNS} from made`,
    [
      ...[actor.tenant_id, actor.user_id, actor.key_id, key.key_id, key.user_id, key.name, key.digest, key.hint],
      ...[key.scopes, key.limits, key.idempotency?.key, key.idempotency?.fingerprint, key.expires_at],
    ],
  );
  return row;
}

/** `of`: only this person's. */
export async function findApiKey(
  db: Database,
  tenantId: string,
  keyId: string,
  userId: string | undefined,
): Promise<ApiKeyRow | undefined> {
  const [row] = await db.query<ApiKeyRow>(
    "keys.find",
    `select ${API_KEY_COLUMNS} from api_keys where tenant_id = $1 and key_id = $2 and ($3::text is null or user_id = $3)`,
    [tenantId, keyId, userId],
  );
  return row;
}

/** Newest first, by key-set. */
export async function listApiKeys(
  db: Database,
  tenantId: string,
  { before, of: userId }: { before?: string | undefined; of?: string | undefined },
  limit: number,
): Promise<ApiKeyRow[]> {
  return db.query<ApiKeyRow>(
    "keys.list",
    `select ${API_KEY_COLUMNS} from api_keys
     where tenant_id = $1 and ($2::uuid is null or key_id < $2) and ($3::text is null or user_id = $3)
     order by key_id desc limit $4`,
    [tenantId, before, userId, limit],
  );
}

export type ApiKeyChange = Partial<Pick<ApiKeyRow, "name" | "scopes" | "limits" | "expires_at">>;

/** Undefined: there is no such key any more, or it was changed since `seen` was read. */
export async function updateApiKey(
  db: Database,
  actor: Actor,
  expected: Pick<ApiKeyRow, "key_id" | "scopes">,
  change: ApiKeyChange,
): Promise<ApiKeyRow | undefined> {
  const { name, scopes, limits, expires_at } = change;
  const [row] = await db.query<ApiKeyRow>(
    "keys.change",
    `with changed as (
       update api_keys set name = coalesce($6, name), scopes = coalesce($7::text[], scopes),
         limits = coalesce($8::jsonb, limits), expires_at = case when $9 then $10::timestamptz else expires_at end,
         updated_at = now()
       where tenant_id = $1 and key_id = $4 and scopes = $5::text[] and revoked_at is null
       returning *
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'keys.update', key_id::text, $11::jsonb from changed
     )
     select ${API_KEY_COLUMNS} from changed`,
    [
      ...[actor.tenant_id, actor.user_id, actor.key_id, expected.key_id, expected.scopes, name, scopes, limits],
      ...[expires_at !== undefined, expires_at, change],
    ],
  );
  return row;
}

/** A new key with what the old one has; the old one ends after the overlap. Undefined: it is not in force any more. */
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
  const [row] = await db.query<ApiKeyRow>(
    "keys.replace",
    `with old as (
       select * from api_keys
       where tenant_id = $1 and key_id = $4 and scopes = $5::text[] and revoked_at is null and replaced_by is null
         and (expires_at is null or expires_at > now())
       for update
     ), ending as (
       update api_keys set replaced_by = $6, updated_at = now(),
         expires_at = least(old.expires_at, now() + make_interval(secs => $9))
       from old where api_keys.key_id = old.key_id
     ), made as (
       insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at)
       select $6, tenant_id, user_id, name, $7, $8, scopes, limits, expires_at from old
       returning *
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'keys.rotate', $4::text, jsonb_build_object('replaced_by', $6::uuid, 'overlap_seconds', $9)
       from made
     )
     select ${API_KEY_COLUMNS} from made`,
    [
      ...[actor.tenant_id, actor.user_id, actor.key_id, old.key_id, old.scopes],
      ...[key.key_id, key.digest, key.hint, overlapSeconds],
    ],
  );
  return row;
}

/** What is revoked stays so; saying it again changes nothing and is not told twice. */
export async function revokeApiKey(db: Database, actor: Actor, keyId: string, eventId: string): Promise<void> {
  await db.query(
    "keys.revoke",
    `with gone as (
       update api_keys set revoked_at = now(), updated_at = now()
       where tenant_id = $1 and key_id = $4 and revoked_at is null returning *
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, data)
       select $5, $5, tenant_id, 'api_key.revoked', jsonb_build_object('key_id', key_id, 'name', name, 'hint', hint,
         'user_id', user_id, 'revoked_by', $2::text, 'revoked_at', revoked_at)
       from gone
     )
     insert into audit (tenant_id, user_id, key_id, action, subject)
     select $1, $2, $3, 'keys.revoke', key_id::text from gone`,
    [actor.tenant_id, actor.user_id, actor.key_id, keyId, eventId],
  );
}
