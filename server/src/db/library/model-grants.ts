// Who else may use a model: a row for each user or tenant that it was given to. Only those who manage the model see or
// change them.
import type { Database } from "../connect.ts";
import type { ModelManager } from "./custom-models.ts";

export type ModelGrantee = { tenant_id: string; user_id: string | null };
export type ModelGrantRow = ModelGrantee & { grant_id: string; model_id: string; created_at: Date };

const MANAGED_MODEL = "select model_id from models where model_id = $4 and tenant_id = $1 and (owner = $2 or $3)";

const managerValues = (manager: ModelManager, modelId: string) => [
  manager.tenant_id,
  manager.user_id,
  manager.isAdmin,
  modelId,
];

export type NewModelGrant = ModelGrantee & {
  grant_id: string;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Given twice it is the same grant. Undefined: there is no such model to manage. */
export async function insertModelGrant(
  db: Database,
  manager: ModelManager,
  modelId: string,
  grant: NewModelGrant,
): Promise<ModelGrantRow | undefined> {
  const [row] = await db.query<ModelGrantRow>(
    "model_grants.create",
    `with managed as (${MANAGED_MODEL}), key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $8, $9, $5 from managed where $8::text is not null on conflict do nothing
     )
     insert into model_grants (grant_id, model_id, tenant_id, user_id)
     select $5, model_id, $6, $7 from managed
     on conflict (model_id, tenant_id, user_id) do update set user_id = excluded.user_id
     returning grant_id, model_id, tenant_id, user_id, created_at`,
    [
      ...[...managerValues(manager, modelId), grant.grant_id, grant.tenant_id, grant.user_id],
      ...[grant.idempotency?.key, grant.idempotency?.fingerprint],
    ],
  );
  return row;
}

/** Newest first, by key-set. */
export async function listModelGrantRows(
  db: Database,
  manager: ModelManager,
  modelId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ModelGrantRow[]> {
  return db.query<ModelGrantRow>(
    "model_grants.list",
    `select grant_id, model_id, tenant_id, user_id, created_at from model_grants
     where model_id = (${MANAGED_MODEL}) and ($5::uuid is null or grant_id < $5) order by grant_id desc limit $6`,
    [...managerValues(manager, modelId), before, limit],
  );
}

/** The grant as it was. Undefined: there is no such grant, or no such model to manage. */
export async function deleteModelGrantRow(
  db: Database,
  manager: ModelManager,
  modelId: string,
  to: ModelGrantee,
): Promise<ModelGrantRow | undefined> {
  const [row] = await db.query<ModelGrantRow>(
    "model_grants.delete",
    `delete from model_grants
     where model_id = (${MANAGED_MODEL}) and tenant_id = $5 and user_id is not distinct from $6
     returning grant_id, model_id, tenant_id, user_id, created_at`,
    [...managerValues(manager, modelId), to.tenant_id, to.user_id],
  );
  return row;
}
