// The people of a tenant. Who was removed stays as a row, so that an identity provider cannot bring them back; a tenant
// always keeps an owner.
import { Fault } from "../../faults.ts";
import type { Database } from "../connect.ts";
import type { ResourceOwner, Role } from "../runs/runs.ts";
import type { Actor } from "./audit-log.ts";

export type MemberRow = {
  user_id: string;
  role: Role;
  name: string | null;
  email: string | null;
  created_at: Date;
  updated_at: Date;
};
const MEMBER_COLUMNS = "user_id, role, name, email, created_at, updated_at";
/** Raised by the database when a tenant would be left without an owner. */
const CHECK_VIOLATION = "23514";

export type NewMember = Pick<MemberRow, "user_id" | "role" | "name" | "email">;

/** Undefined: they are in already. */
export async function insertMember(db: Database, actor: Actor, member: NewMember): Promise<MemberRow | undefined> {
  const [row] = await db.query<MemberRow>(
    "members.add",
    `with added as (
       insert into members (tenant_id, user_id, role, name, email) values ($1, $4, $5, $6, $7)
       on conflict (tenant_id, user_id) do update set role = excluded.role, name = excluded.name, email = excluded.email,
         removed_at = null, updated_at = now()
         where members.removed_at is not null
       returning ${MEMBER_COLUMNS}
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3::uuid, 'members.add', user_id, jsonb_build_object('role', role) from added
     )
     select * from added`,
    [actor.tenant_id, actor.user_id, actor.key_id, member.user_id, member.role, member.name, member.email],
  );
  return row;
}

export async function listMemberRows(
  db: Database,
  tenantId: string,
  after: string | undefined,
  limit: number,
): Promise<MemberRow[]> {
  return db.query<MemberRow>(
    "members.list",
    `select ${MEMBER_COLUMNS} from members
     where tenant_id = $1 and removed_at is null and ($2::text is null or user_id > $2) order by user_id limit $3`,
    [tenantId, after, limit],
  );
}

export type MemberChange = Partial<Pick<MemberRow, "role" | "name" | "email">>;

/** Undefined: there is no such member. */
export async function updateMemberRow(
  db: Database,
  actor: Actor,
  userId: string,
  change: MemberChange,
): Promise<MemberRow | undefined> {
  const { role, name, email } = change;
  const [row] = await mapLastOwnerError(
    db.query<MemberRow>(
      "members.change",
      `with changed as (
       update members set role = coalesce($5, role), name = case when $6 then $7 else name end,
         email = case when $8 then $9 else email end, updated_at = now()
       where tenant_id = $1 and user_id = $4 and removed_at is null
       returning ${MEMBER_COLUMNS}
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3::uuid, 'members.update', user_id, $10::jsonb from changed
     )
     select * from changed`,
      [
        ...[actor.tenant_id, actor.user_id, actor.key_id, userId, role],
        ...[name !== undefined, name, email !== undefined, email, change],
      ],
    ),
  );
  return row;
}

/** Undefined as above. Their keys are refused from now on, because a key needs its member. */
export async function markMemberRemoved(db: Database, actor: Actor, userId: string): Promise<MemberRow | undefined> {
  const [row] = await mapLastOwnerError(
    db.query<MemberRow>(
      "members.remove",
      `with gone as (
       update members set removed_at = now(), updated_at = now()
       where tenant_id = $1 and user_id = $4 and removed_at is null
       returning ${MEMBER_COLUMNS}
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject)
       select $1, $2, $3::uuid, 'members.remove', user_id from gone
     )
     select * from gone`,
      [actor.tenant_id, actor.user_id, actor.key_id, userId],
    ),
  );
  return row;
}

async function mapLastOwnerError<Rows>(rows: Promise<Rows>): Promise<Rows> {
  return rows.catch((thrown) => {
    if ((thrown as { code?: string }).code !== CHECK_VIOLATION) throw thrown;
    throw new Fault("conflict", { retryable: false, reason: "last_owner" }, { cause: thrown });
  });
}

/** What is known of a person whom an identity provider vouches for, and of their tenant. */
export type MemberIdentity = {
  role: Role | null;
  is_removed: boolean;
  weight: number;
  tenant_limits: Record<string, unknown>;
  is_suspended: boolean;
};

export async function findMemberIdentity(
  db: Database,
  tenantId: string,
  userId: string,
): Promise<MemberIdentity | undefined> {
  const [row] = await db.query<MemberIdentity>(
    "members.person",
    `select role, coalesce(removed_at is not null, false) as is_removed, weight, tenants.limits as tenant_limits,
       suspended_at is not null as is_suspended
     from tenants left join members on members.tenant_id = tenants.tenant_id and members.user_id = $2
     where tenants.tenant_id = $1`,
    [tenantId, userId],
  );
  return row;
}

/** Whoever an identity provider vouches for is a member from their first request on; whoever is or was one stays that. */
export async function insertMemberOnFirstUse(db: Database, user: ResourceOwner, role: Role): Promise<void> {
  await db.query(
    "members.join",
    `with joined as (
       insert into members (tenant_id, user_id, role) values ($1, $2, $3) on conflict do nothing returning *
     )
     insert into audit (tenant_id, user_id, action, subject, details)
     select tenant_id, user_id, 'members.join', user_id, jsonb_build_object('role', role) from joined`,
    [user.tenant_id, user.user_id, role],
  );
}
