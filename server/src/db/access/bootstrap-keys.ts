// The first tenant's own key: the one of the settings, or the one that the first start makes. Both have fixed ids, so any
// number of processes may start at once and as often as they like.
import type { Database } from "../connect.ts";

const FIRST_TENANT = "00000000-0000-7000-8000-000000000001";
const FIRST_OWNER = "owner";
const FIRST_KEY = "00000000-0000-7000-8000-000000000002";
const DEVELOPMENT_KEY = "00000000-0000-7000-8000-000000000003";
const ALL_SCOPES = ["*", "tenants:*"];

type KeyDigest = { digest: Buffer; hint: string };

/** The key of the settings works as long as it stands there, and no other that stood there before. */
export async function upsertDevelopmentKey(db: Database, secret: KeyDigest | undefined): Promise<void> {
  await db.query(
    "firstKey.development",
    `with owner as (
       insert into members (tenant_id, user_id, role) values ($1, $2, 'owner') on conflict do nothing
     ), gone as (
       update api_keys set revoked_at = now() where key_id = $3 and $4::bytea is null and revoked_at is null
     )
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select $3, $1, $2, 'The key of the settings', $4, $5, $6 where $4::bytea is not null
     on conflict (key_id) do update set digest = excluded.digest, hint = excluded.hint, revoked_at = null
       where api_keys.digest <> excluded.digest or api_keys.revoked_at is not null`,
    [FIRST_TENANT, FIRST_OWNER, DEVELOPMENT_KEY, secret?.digest, secret?.hint, ALL_SCOPES],
  );
}

/** Whether it was added: an installation that has ever had a first key, or has another, gets none. */
export async function insertFirstKey(db: Database, { digest, hint }: KeyDigest): Promise<boolean> {
  const rows = await db.query(
    "firstKey.add",
    `insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select $3, $1, $2, 'The first key', $4, $5, $6 where not exists (select from api_keys where key_id <> $7)
     on conflict do nothing returning key_id`,
    [FIRST_TENANT, FIRST_OWNER, FIRST_KEY, digest, hint, ALL_SCOPES, DEVELOPMENT_KEY],
  );
  return rows.length > 0;
}
