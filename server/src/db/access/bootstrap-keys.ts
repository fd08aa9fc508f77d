// Keys that are created without another key: the one from the settings, the one that the first start creates, and those
// that an operator creates at the database. The first two have fixed ids, so that concurrent and repeated starts are
// idempotent. Every change is recorded in the audit log of the tenant.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const FIRST_TENANT = "00000000-0000-7000-8000-000000000001";
const FIRST_OWNER = "owner";
const FIRST_KEY = "00000000-0000-7000-8000-000000000002";
const DEVELOPMENT_KEY = "00000000-0000-7000-8000-000000000003";
const ALL_SCOPES = ["*", "tenants:*"];

type KeyDigest = { digest: Buffer; hint: string };

const UPSERT_DEVELOPMENT_KEY = statement(
  "bootstrap_keys.upsert_development",
  `with owner as (
     insert into members (tenant_id, user_id, role) values (:tenant_id, :user_id, 'owner') on conflict do nothing
   ), revoked as (
     select key_id from revoke_key_tree(:tenant_id, case when :digest?::bytea is null then :key_id::uuid end, true, '{}')
     where revoked_at is not null
   ), registered as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select :key_id, :tenant_id, :user_id, 'The key of the settings', :digest?, :hint?, :scopes
     where :digest?::bytea is not null
     on conflict (key_id) do update set digest = excluded.digest, hint = excluded.hint, revoked_at = null
       where api_keys.digest <> excluded.digest or api_keys.revoked_at is not null
     returning key_id
   )
   insert into audit_log (tenant_id, user_id, action, subject, details)
   select :tenant_id, :user_id, action, key_id::text, '{"source": "settings"}' from (
     select key_id, 'keys.create' as action from registered union all select key_id, 'keys.revoke' from revoked
   ) as changes`,
);

/**
 * The key from the settings is valid as long as it is set; without one, the earlier one is revoked. The keys made with
 * it stay: a setting that is removed after the set-up stops no program.
 */
export async function upsertDevelopmentKey(db: Database, secret: KeyDigest | undefined): Promise<void> {
  await db.execute(UPSERT_DEVELOPMENT_KEY, {
    tenant_id: FIRST_TENANT,
    user_id: FIRST_OWNER,
    key_id: DEVELOPMENT_KEY,
    digest: secret?.digest,
    hint: secret?.hint,
    scopes: ALL_SCOPES,
  });
}

const INSERT_FIRST_KEY = statement(
  "bootstrap_keys.insert_first",
  `with inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select :key_id, :tenant_id, :user_id, 'The first key', :digest, :hint, :scopes
     where not exists (select from api_keys where key_id <> :development_key_id)
     on conflict do nothing returning key_id
   )
   insert into audit_log (tenant_id, user_id, action, subject, details)
   select :tenant_id, :user_id, 'keys.create', key_id::text, '{"source": "first_start"}' from inserted
   returning subject`,
);

/** False if the installation has, or ever had, a first key or another key. */
export async function insertFirstKey(db: Database, { digest, hint }: KeyDigest): Promise<boolean> {
  const rows = await db.execute(INSERT_FIRST_KEY, {
    tenant_id: FIRST_TENANT,
    user_id: FIRST_OWNER,
    key_id: FIRST_KEY,
    digest,
    hint,
    scopes: ALL_SCOPES,
    development_key_id: DEVELOPMENT_KEY,
  });
  return rows.length > 0;
}

const INSERT_OWNER_KEY = statement(
  "bootstrap_keys.insert_owner",
  `with owner as (
     select tenant_id, user_id from members
     where tenant_id = :tenant_id and role = 'owner' and removed_at is null order by created_at, user_id limit 1
   ), inserted as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select :key_id, tenant_id, user_id, :name, :digest, :hint, :scopes from owner
     returning key_id, tenant_id, user_id
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, action, subject, details)
     select tenant_id, user_id, 'keys.create', key_id::text,
       jsonb_build_object('source', 'command_line', 'name', :name, 'database_account', session_user)
     from inserted
   )
   select tenant_id, user_id from inserted`,
);

/**
 * A key of the tenant's first owner, for an operator who has the database and no key. Default: the first tenant, whose
 * key is also that of the operator. Undefined if there is no such tenant.
 */
export async function insertOwnerKey(
  db: Database,
  { tenant_id = FIRST_TENANT, ...key }: KeyDigest & { key_id: string; name: string; tenant_id?: string | undefined },
): Promise<{ tenant_id: string; user_id: string; scopes: string[] } | undefined> {
  const scopes = tenant_id === FIRST_TENANT ? ALL_SCOPES : ["*"];
  const [row] = await db.execute(INSERT_OWNER_KEY, { tenant_id, ...key, scopes });
  return row && { ...row, scopes };
}
