// Members of a tenant. A removed member stays as a row, so that single sign-on does not add the person again; every
// tenant has at least one owner.
import { Fault } from "../../faults/faults.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { Role } from "../typed-columns.ts";
import { type Actor, actorParameters } from "./audit-log.ts";
import type { ResourceOwner } from "./caller.ts";

export type MemberRow = {
  user_id: string;
  role: Role;
  name: string | null;
  email: string | null;
  is_role_mapped: boolean;
  created_at: Date;
  updated_at: Date;
};
const MEMBER_COLUMNS = "user_id, role, name, email, is_role_mapped, created_at, updated_at";
/** Raised by the database when a tenant would be left without an owner. */
const CHECK_VIOLATION = "23514";

export type NewMember = Pick<MemberRow, "user_id" | "role" | "name" | "email">;

const INSERT = statement(
  "members.insert",
  `with inserted as (
     insert into members (tenant_id, user_id, role, name, email, role_set_at)
     values (:tenant_id, :user_id, :role, :name?, :email?, now())
     on conflict (tenant_id, user_id) do update set role = excluded.role, name = excluded.name, email = excluded.email,
       is_role_mapped = false, role_set_at = now(), removed_at = null, updated_at = now()
       where members.removed_at is not null
     returning ${MEMBER_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'members.add', user_id, jsonb_build_object('role', role)
     from inserted
   )
   select ${MEMBER_COLUMNS} from inserted`,
);

/** Undefined if the person is already a member. */
export async function insertMember(db: Database, actor: Actor, member: NewMember): Promise<MemberRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    user_id: member.user_id,
    role: member.role,
    name: member.name,
    email: member.email,
  });
  return row;
}

const LIST = statement(
  "members.list",
  `select ${MEMBER_COLUMNS} from members
   where tenant_id = :tenant_id and removed_at is null and (:after?::text is null or user_id > :after?)
   order by user_id limit :limit`,
);

export async function listMemberRows(
  db: Database,
  tenantId: string,
  after: string | undefined,
  limit: number,
): Promise<MemberRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, after, limit });
}

export type MemberChange = Partial<Pick<MemberRow, "role" | "name" | "email">>;

const UPDATE = statement(
  "members.update",
  `with changed as (
     update members set role = coalesce(:role?, role), name = case when :has_name then :name? else name end,
       email = case when :has_email then :email? else email end, updated_at = now(),
       role_set_at = case when coalesce(:role?, role) = role then role_set_at else now() end
     where tenant_id = :tenant_id and user_id = :user_id and removed_at is null
     returning ${MEMBER_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'members.update', user_id, :audited_change::jsonb
     from changed
   )
   select ${MEMBER_COLUMNS} from changed`,
);

/** Undefined if there is no such member. */
export async function updateMemberRow(
  db: Database,
  actor: Actor,
  userId: string,
  change: MemberChange,
): Promise<MemberRow | undefined> {
  const { role, name, email } = change;
  const [row] = await mapLastOwnerError(
    db.execute(UPDATE, {
      tenant_id: actor.tenant_id,
      ...actorParameters(actor),
      user_id: userId,
      role,
      has_name: name !== undefined,
      name,
      has_email: email !== undefined,
      email,
      audited_change: { role, fields: Object.keys(change).sort() },
    }),
  );
  return row;
}

const MARK_REMOVED = statement(
  "members.mark_removed",
  `with removed as (
     update members set removed_at = now(), is_role_mapped = false, updated_at = now()
     where tenant_id = :tenant_id and user_id = :user_id and removed_at is null
     returning ${MEMBER_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'members.remove', user_id from removed
   )
   select ${MEMBER_COLUMNS} from removed`,
);

/** Undefined if there is no such member. The member's keys are refused from now on. */
export async function markMemberRemoved(db: Database, actor: Actor, userId: string): Promise<MemberRow | undefined> {
  const [row] = await mapLastOwnerError(
    db.execute(MARK_REMOVED, { tenant_id: actor.tenant_id, ...actorParameters(actor), user_id: userId }),
  );
  return row;
}

async function mapLastOwnerError<Rows>(rows: Promise<Rows>): Promise<Rows> {
  return rows.catch((thrown) => {
    if ((thrown as { code?: string }).code !== CHECK_VIOLATION) throw thrown;
    throw new Fault("conflict", { retryable: false, reason: "last_owner" }, { cause: thrown });
  });
}

/** What single sign-on needs to know of a person and their tenant. */
export type MemberIdentity = {
  role: Role | null;
  is_removed: boolean;
  is_role_mapped: boolean;
  role_set_at: Date | null;
  weight: number;
  tenant_limits: Record<string, unknown>;
  is_suspended: boolean;
};

const FIND_IDENTITY = statement(
  "members.find_identity",
  `select role, coalesce(removed_at is not null, false) as is_removed, coalesce(is_role_mapped, false) as is_role_mapped,
     role_set_at, weight, tenants.limits as tenant_limits, suspended_at is not null as is_suspended
   from tenants left join members on members.tenant_id = tenants.tenant_id and members.user_id = :user_id
   where tenants.tenant_id = :tenant_id`,
).columns<{ is_removed: boolean; is_role_mapped: boolean; is_suspended: boolean }>();

export async function findMemberIdentity(
  db: Database,
  tenantId: string,
  userId: string,
): Promise<MemberIdentity | undefined> {
  const [row] = await db.execute(FIND_IDENTITY, { tenant_id: tenantId, user_id: userId });
  return row;
}

const INSERT_ON_FIRST_USE = statement(
  "members.insert_on_first_use",
  `with inserted as (
     insert into members (tenant_id, user_id, role) values (:tenant_id, :user_id, :role) on conflict do nothing
     returning tenant_id, user_id, role
   )
   insert into audit_log (tenant_id, user_id, action, subject, details)
   select tenant_id, user_id, 'members.join', user_id, jsonb_build_object('role', role) from inserted`,
);

/** Adds a person who signs in for the first time. Members and removed members stay as they are. */
export async function insertMemberOnFirstUse(
  db: Database,
  { tenant_id, user_id }: ResourceOwner,
  role: Role,
): Promise<void> {
  await db.execute(INSERT_ON_FIRST_USE, { tenant_id, user_id, role });
}

/** A decision of an identity provider about a role. `issuer` is the id of its settings. */
export type MappedRole = { role: Role; issuer: string; issued_at: Date };

/** Whether the row changed is in its time: another statement can have changed it since `before` was read. */
const SET_MAPPED_ROLE = statement(
  "members.set_mapped_role",
  `with before as (
     select role, removed_at from members where tenant_id = :tenant_id and user_id = :user_id
   ), mapped as (
     insert into members (tenant_id, user_id, role, is_role_mapped, role_set_at)
     values (:tenant_id, :user_id, :role, true, :issued_at)
     on conflict (tenant_id, user_id) do update set role = excluded.role, is_role_mapped = true,
       role_set_at = excluded.role_set_at, removed_at = null, updated_at = case
         when members.role = excluded.role and members.removed_at is null then members.updated_at else now() end
       where (members.removed_at is null or members.is_role_mapped)
         and (members.role_set_at is null or members.role_set_at < excluded.role_set_at)
     returning tenant_id, user_id, role, updated_at
   )
   insert into audit_log (tenant_id, user_id, action, subject, details)
   select tenant_id, user_id, case
       when before.role is null or before.removed_at is not null then 'members.join' else 'members.update' end,
     user_id, jsonb_build_object('role', mapped.role, 'issuer', :issuer::text)
   from mapped left join before on true where updated_at = now()`,
);

/** Gives a person the role that claims name. Newer decisions stay, and so do people whom an owner removed. */
export async function setMappedRole(
  db: Database,
  { tenant_id, user_id }: ResourceOwner,
  mapped: MappedRole,
): Promise<void> {
  await mapLastOwnerError(db.execute(SET_MAPPED_ROLE, { tenant_id, user_id, ...mapped }));
}

const WITHDRAW_MAPPED_ROLE = statement(
  "members.withdraw_mapped_role",
  `with removed as (
     update members set removed_at = now(), role_set_at = :issued_at, updated_at = now()
     where tenant_id = :tenant_id and user_id = :user_id and removed_at is null and is_role_mapped
       and role_set_at < :issued_at
     returning tenant_id, user_id
   )
   insert into audit_log (tenant_id, user_id, action, subject, details)
   select tenant_id, user_id, 'members.remove', user_id, jsonb_build_object('issuer', :issuer::text) from removed`,
);

/** Removes a member whose role came from claims that give none any more. Newer decisions stay. */
export async function withdrawMappedRole(
  db: Database,
  { tenant_id, user_id }: ResourceOwner,
  { issuer, issued_at }: Omit<MappedRole, "role">,
): Promise<void> {
  await mapLastOwnerError(db.execute(WITHDRAW_MAPPED_ROLE, { tenant_id, user_id, issuer, issued_at }));
}
