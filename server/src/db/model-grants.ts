// Who else may use a model: a row for each user or tenant that it was given to. Only those who manage the model see or
// change them.
import type { Database } from "./connect.ts";
import type { Keeper } from "./models.ts";

export type Grantee = { tenant_id: string; user_id: string | null };
export type GrantRow = Grantee & { grant_id: string; model_id: string; created_at: Date };

const MANAGED = "select model_id from models where model_id = $4 and tenant_id = $1 and (owner = $2 or $3)";

const values = (keeper: Keeper, modelId: string) => [keeper.tenant_id, keeper.user_id, keeper.isAdmin, modelId];

export type NewGrant = Grantee & {
  grant_id: string;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Given twice it is the same grant. Undefined: there is no such model to manage. */
export async function createGrant(
  db: Database,
  keeper: Keeper,
  modelId: string,
  grant: NewGrant,
): Promise<GrantRow | undefined> {
  const [row] = await db.query<GrantRow>(
    "model_grants.create",
    `with managed as (${MANAGED}), key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $8, $9, $5 from managed where $8::text is not null on conflict do nothing
     )
     insert into model_grants (grant_id, model_id, tenant_id, user_id)
     select $5, model_id, $6, $7 from managed
     on conflict (model_id, tenant_id, user_id) do update set user_id = excluded.user_id
     returning grant_id, model_id, tenant_id, user_id, created_at`,
    [
      ...[...values(keeper, modelId), grant.grant_id, grant.tenant_id, grant.user_id],
      ...[grant.idempotency?.key, grant.idempotency?.fingerprint],
    ],
  );
  return row;
}

/** Newest first, by key-set. */
export async function listGrants(
  db: Database,
  keeper: Keeper,
  modelId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<GrantRow[]> {
  return db.query<GrantRow>(
    "model_grants.list",
    `select grant_id, model_id, tenant_id, user_id, created_at from model_grants
     where model_id = (${MANAGED}) and ($5::uuid is null or grant_id < $5) order by grant_id desc limit $6`,
    [...values(keeper, modelId), before, limit],
  );
}

/** The grant as it was. Undefined: there is no such grant, or no such model to manage. */
export async function deleteGrant(
  db: Database,
  keeper: Keeper,
  modelId: string,
  to: Grantee,
): Promise<GrantRow | undefined> {
  const [row] = await db.query<GrantRow>(
    "model_grants.delete",
    `delete from model_grants
     where model_id = (${MANAGED}) and tenant_id = $5 and user_id is not distinct from $6
     returning grant_id, model_id, tenant_id, user_id, created_at`,
    [...values(keeper, modelId), to.tenant_id, to.user_id],
  );
  return row;
}
