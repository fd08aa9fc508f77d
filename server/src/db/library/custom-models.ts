// The registry of custom models: who registered what, and who may use it. The one rule about use is `MAY_USE`; lists, single
// reads and runs all ask it, so that none of them can differ.
import type { Database } from "../connect.ts";
import type { ResourceOwner } from "../runs/runs.ts";

export type CustomModelFields = {
  name: string;
  model_type: string;
  deployment_id: string;
  trigger_word: string | null;
  description: string | null;
  preview_image_url: string | null;
  visibility: "private" | "tenant" | "public";
};
export type CustomModelRow = CustomModelFields & {
  model_id: string;
  owner: string;
  status: "active" | "disabled";
  created_at: Date;
  updated_at: Date;
};

/** Who asks. `isAdmin`: every model of the tenant is theirs to manage. `isOperator`: every LoRA is theirs to register. */
export type ModelManager = ResourceOwner & { isAdmin: boolean; isOperator: boolean };

/** $1 is the tenant and $2 the user who asks. */
const MAY_USE = `(models.status = 'active' and (
  models.visibility = 'public'
  or (models.tenant_id = $1 and (models.visibility = 'tenant' or models.owner = $2))
  or exists (select from model_grants as given where given.model_id = models.model_id and given.tenant_id = $1
    and (given.user_id is null or given.user_id = $2))))`;

/** $3: whether they keep the models of the whole tenant. */
const MAY_MANAGE = "(models.tenant_id = $1 and (models.owner = $2 or $3))";

/** $4: whether they are the operator. */
const OWNS_LORA = "($4 or (claim.tenant_id = $1 and (claim.owner = $2 or $3)))";

const MODEL_COLUMNS = `model_id, owner, name, model_type, deployment_id, trigger_word, description, preview_image_url, visibility,
  status, created_at, updated_at`;

const managerParameters = (manager: ModelManager) => [manager.tenant_id, manager.user_id, manager.isAdmin];

/** One file may be written in several ways; this is the one way that it is compared by. */
export const normalizeLoraName = (name: string): string => name.toLowerCase().replace(/\.safetensors$/, "");

export type NewCustomModel = CustomModelFields & {
  model_id: string;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Model, LoRA and key in one statement. Nothing is made where the LoRA is somebody else's or the key is taken. */
export async function insertCustomModel(
  db: Database,
  manager: ModelManager,
  model: NewCustomModel,
): Promise<{ ownsLora: boolean; row: CustomModelRow | undefined }> {
  const [answer] = await db.query<CustomModelRow & { is_theirs: boolean }>(
    "models.create",
    `with claim as (
       insert into lora_names (lora_name, tenant_id, owner) values ($5, $1, $2)
       on conflict (lora_name) do update set lora_name = excluded.lora_name returning tenant_id, owner
     ), theirs as (
       select from claim where ${OWNS_LORA}
     ), key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $14, $15, $6 where $14::text is not null and exists (select from theirs)
       on conflict do nothing returning run_id
     ), made as (
       insert into models (model_id, tenant_id, owner, lora_name, name, model_type, deployment_id, trigger_word,
                           description, preview_image_url, visibility)
       select $6, $1, $2, $5, $7, $8, $9, $10, $11, $12, $13
       where exists (select from theirs) and ($14::text is null or exists (select from key))
       returning ${MODEL_COLUMNS}
     )
     select exists (select from theirs) as is_theirs, made.* from (select) as one left join made on true`,
    [
      ...[
        ...managerParameters(manager),
        manager.isOperator,
        normalizeLoraName(model.deployment_id),
        model.model_id,
        model.name,
      ],
      ...[model.model_type, model.deployment_id, model.trigger_word, model.description, model.preview_image_url],
      ...[model.visibility, model.idempotency?.key, model.idempotency?.fingerprint],
    ],
  );
  const { is_theirs, ...row } = answer!;
  return { ownsLora: is_theirs, row: row.model_id === null ? undefined : row };
}

/** A model that the caller may use or manage. */
export async function findCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
): Promise<(CustomModelRow & { may_manage: boolean }) | undefined> {
  const [row] = await db.query<CustomModelRow & { may_manage: boolean }>(
    "models.find",
    `select ${MODEL_COLUMNS}, ${MAY_MANAGE} as may_manage from models
     where model_id = $4 and (${MAY_USE} or ${MAY_MANAGE})`,
    [...managerParameters(manager), modelId],
  );
  return row;
}

export type CustomModelFilter = { status: string; before?: string | undefined; model_type?: string | undefined };

/** Newest first, by key-set. Models that nobody can use are shown to those who could change that. */
export async function listCustomModels(
  db: Database,
  manager: ModelManager,
  { status, before, model_type }: CustomModelFilter,
  limit: number,
): Promise<CustomModelRow[]> {
  return db.query<CustomModelRow>(
    "models.list",
    `select ${MODEL_COLUMNS} from models
     where status = $4 and (${MAY_USE} or (status = 'disabled' and ${MAY_MANAGE}))
       and ($5::uuid is null or model_id < $5) and ($6::text is null or model_type = $6)
     order by model_id desc limit $7`,
    [...managerParameters(manager), status, before, model_type, limit],
  );
}

export type CustomModelChange = Partial<CustomModelFields & Pick<CustomModelRow, "status">>;

/** Undefined: there is no such model to manage, or the LoRA is somebody else's. */
export async function updateCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
  change: CustomModelChange,
): Promise<CustomModelRow | undefined> {
  const isGiven = (field: keyof CustomModelChange) => change[field] !== undefined;
  const lora = change.deployment_id === undefined ? undefined : normalizeLoraName(change.deployment_id);
  const [row] = await db.query<CustomModelRow>(
    "models.change",
    `with claim as (
       insert into lora_names (lora_name, tenant_id, owner)
       select $6, $1, $2 from models where $6::text is not null and model_id = $5 and ${MAY_MANAGE}
       on conflict (lora_name) do update set lora_name = excluded.lora_name returning tenant_id, owner
     )
     update models set name = coalesce($7, name), model_type = coalesce($8, model_type),
       deployment_id = coalesce($9, deployment_id), lora_name = coalesce($6, lora_name),
       trigger_word = case when $10 then $11 else trigger_word end,
       description = case when $12 then $13 else description end,
       preview_image_url = case when $14 then $15 else preview_image_url end,
       visibility = coalesce($16, visibility), status = coalesce($17, status), updated_at = greatest(now(), updated_at)
     where model_id = $5 and ${MAY_MANAGE} and ($6::text is null or exists (select from claim where ${OWNS_LORA}))
     returning ${MODEL_COLUMNS}`,
    [
      ...[...managerParameters(manager), manager.isOperator, modelId, lora, change.name, change.model_type],
      ...[change.deployment_id, isGiven("trigger_word"), change.trigger_word, isGiven("description")],
      ...[change.description, isGiven("preview_image_url"), change.preview_image_url],
      ...[change.visibility, change.status],
    ],
  );
  return row;
}

/** The model as it was; its grants go with it. */
export async function deleteCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
): Promise<CustomModelRow | undefined> {
  const [row] = await db.query<CustomModelRow>(
    "models.delete",
    `delete from models where model_id = $4 and ${MAY_MANAGE} returning ${MODEL_COLUMNS}`,
    [...managerParameters(manager), modelId],
  );
  return row;
}

export type UsableModel = Pick<CustomModelRow, "model_id" | "model_type" | "deployment_id" | "trigger_word">;
/** `usable` are the models of these ids and LoRAs that may be used, `registered` the LoRAs that are anybody's. */
export type ModelAccess = { usable: (UsableModel & { lora_name: string })[]; registered: string[] };

/** How these models and LoRAs stand to somebody. What is not there and what is forbidden look the same. */
export async function findModelAccess(
  db: Database,
  user: ResourceOwner,
  { modelIds, loras }: { modelIds: string[]; loras: string[] },
): Promise<ModelAccess> {
  const [row] = await db.query<ModelAccess>(
    "models.standing",
    `select
       coalesce((select jsonb_agg(jsonb_build_object('model_id', model_id, 'model_type', model_type, 'lora_name', lora_name,
           'deployment_id', deployment_id, 'trigger_word', trigger_word))
         from models where (model_id = any($3::uuid[]) or lora_name = any($4)) and ${MAY_USE}), '[]') as usable,
       array(select lora_name from lora_names where lora_name = any($4)) as registered`,
    [user.tenant_id, user.user_id, modelIds, loras.map(normalizeLoraName)],
  );
  return row!;
}
