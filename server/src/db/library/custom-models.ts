// The registry of custom models and the rules of access to them. Lists, single reads and runs all use `MAY_USE`, so
// that they cannot differ. Every change is recorded in the audit log by the statement that makes it.

import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { ResourceOwner } from "../access/caller.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import type { ModelStatus, ModelVisibility } from "../typed-columns.ts";

export type CustomModelFields = {
  name: string;
  model_type: string;
  deployment_id: string;
  trigger_word: string | null;
  description: string | null;
  preview_image_url: string | null;
  visibility: ModelVisibility;
};
export type CustomModelRow = CustomModelFields & {
  model_id: string;
  owner: string;
  status: ModelStatus;
  created_at: Date;
  updated_at: Date;
};

/** The caller. `isAdmin`: may manage every model of the tenant. `isOperator`: may register every LoRA. */
export type ModelManager = Actor & { isAdmin: boolean; isOperator: boolean };

/** Parameters: `tenant_id` and `user_id` of the caller. */
const MAY_USE = `(models.status = 'active' and (
  models.visibility = 'public'
  or (models.tenant_id = :tenant_id and (models.visibility = 'tenant' or models.owner = :user_id))
  or exists (select from model_grants as given where given.model_id = models.model_id and given.tenant_id = :tenant_id
    and (given.user_id is null or given.user_id = :user_id))))`;

/** Parameters: `managerParameters`. */
export const MAY_MANAGE = "(models.tenant_id = :tenant_id and (models.owner = :user_id or :is_admin))";

/**
 * A condition on the columns `lora_name`, `tenant_id` and `owner` of `lora`. Parameters: `managerParameters` and
 * `is_operator`. The names of a deleted tenant stay reserved as digests, because its files may still exist.
 */
const ownsLoraSql = (lora: string) =>
  `(:is_operator or (${lora}.tenant_id = :tenant_id and (${lora}.owner = :user_id or :is_admin) and not exists (
     select from lora_names as retired where retired.lora_name = lora_digest(${lora}.lora_name))))`;

export const managerParameters = ({ tenant_id, user_id, isAdmin }: ModelManager) => ({
  tenant_id,
  user_id,
  is_admin: isAdmin,
});

const MODEL_COLUMN_NAMES = [
  ...["model_id", "owner", "name", "model_type", "deployment_id", "trigger_word", "description", "preview_image_url"],
  ...["visibility", "status", "created_at", "updated_at"],
];
const MODEL_COLUMNS = MODEL_COLUMN_NAMES.join(", ");

/** The canonical form of the name of a LoRA file. */
export const normalizeLoraName = (name: string): string => name.toLowerCase().replace(/\.safetensors$/, "");

export type NewCustomModel = CustomModelFields & {
  model_id: string;
  idempotency?: NewIdempotencyKey | undefined;
};

/** Columns of the model are null unless `is_inserted`. */
const INSERT = statement(
  "models.insert",
  `with lora as (
     insert into lora_names (lora_name, tenant_id, owner) values (:lora_name, :tenant_id, :user_id)
     on conflict (lora_name) do update set lora_name = excluded.lora_name returning lora_name, tenant_id, owner
   ), owned_lora as (
     select from lora where ${ownsLoraSql("lora")}
   ), ${insertIdempotencyKeySql({ kind: "custom_model", resource: ":model_id", when: "exists (select from owned_lora)" })}, inserted as (
     insert into models (model_id, tenant_id, owner, lora_name, name, model_type, deployment_id, trigger_word,
                         description, preview_image_url, visibility)
     select :model_id, :tenant_id, :user_id, :lora_name, :name, :model_type, :deployment_id, :trigger_word?,
       :description?, :preview_image_url?, :visibility
     where exists (select from owned_lora) and ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${MODEL_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'models.create', model_id::text,
       jsonb_build_object('model_type', model_type, 'deployment_id', deployment_id, 'visibility', visibility)
     from inserted
   )
   select exists (select from owned_lora) as owns_lora, inserted.model_id is not null as is_inserted,
     ${MODEL_COLUMN_NAMES.map((column) => `inserted.${column}`).join(", ")}
   from (select) as one left join inserted on true`,
).columns<{ owns_lora: boolean; is_inserted: boolean }>();

/** Inserts model, LoRA name and key in one statement; nothing if another user owns the LoRA or the key is taken. */
export async function insertCustomModel(
  db: Database,
  manager: ModelManager,
  model: NewCustomModel,
): Promise<{ ownsLora: boolean; row: CustomModelRow | undefined }> {
  const [result] = await db.execute(INSERT, {
    ...managerParameters(manager),
    ...actorParameters(manager),
    is_operator: manager.isOperator,
    lora_name: normalizeLoraName(model.deployment_id),
    model_id: model.model_id,
    name: model.name,
    model_type: model.model_type,
    deployment_id: model.deployment_id,
    trigger_word: model.trigger_word,
    description: model.description,
    preview_image_url: model.preview_image_url,
    visibility: model.visibility,
    ...idempotencyParameters(model.idempotency),
  });
  const { owns_lora, is_inserted, ...row } = result!;
  return { ownsLora: owns_lora, row: is_inserted ? row : undefined };
}

const FIND = statement(
  "models.find",
  `select ${MODEL_COLUMNS}, ${MAY_MANAGE} as may_manage from models
   where model_id = :model_id and (${MAY_USE} or ${MAY_MANAGE})`,
).columns<{ may_manage: boolean }>();

/** A model that the caller may use or manage. */
export async function findCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
): Promise<(CustomModelRow & { may_manage: boolean }) | undefined> {
  const [row] = await db.execute(FIND, { ...managerParameters(manager), model_id: modelId });
  return row;
}

/** `granted`: the models of other tenants that have a grant for the caller, instead of all others. */
export type CustomModelFilter = {
  status: string;
  granted: boolean;
  before?: string | undefined;
  model_type?: string | undefined;
};

const LIST = statement(
  "models.list",
  `select ${MODEL_COLUMNS} from models
   where status = :status and (models.tenant_id <> :tenant_id and models.visibility <> 'public') = :granted::boolean
     and (${MAY_USE} or (status = 'disabled' and ${MAY_MANAGE}))
     and (:before?::uuid is null or model_id < :before?) and (:model_type?::text is null or model_type = :model_type?)
   order by model_id desc limit :limit`,
);

/**
 * Newest first, with keyset pagination. A grant of another tenant does not change the list of models, because its
 * receiver did not ask for it. Disabled models are only shown to callers that may manage them.
 */
export async function listCustomModels(
  db: Database,
  manager: ModelManager,
  { status, granted, before, model_type }: CustomModelFilter,
  limit: number,
): Promise<CustomModelRow[]> {
  return db.execute(LIST, { ...managerParameters(manager), status, granted, before, model_type, limit });
}

export type CustomModelChange = Partial<CustomModelFields & Pick<CustomModelRow, "status">>;

const UPDATE = statement(
  "models.update",
  `with lora as (
     insert into lora_names (lora_name, tenant_id, owner)
     select :lora_name?, :tenant_id, :user_id from models
     where :lora_name?::text is not null and model_id = :model_id and ${MAY_MANAGE}
     on conflict (lora_name) do update set lora_name = excluded.lora_name returning lora_name, tenant_id, owner
   ), changed as (
     update models set name = coalesce(:name?, name), model_type = coalesce(:model_type?, model_type),
       deployment_id = coalesce(:deployment_id?, deployment_id), lora_name = coalesce(:lora_name?, lora_name),
       trigger_word = case when :has_trigger_word then :trigger_word? else trigger_word end,
       description = case when :has_description then :description? else description end,
       preview_image_url = case when :has_preview_image_url then :preview_image_url? else preview_image_url end,
       visibility = coalesce(:visibility?, visibility), status = coalesce(:status?, status),
       updated_at = greatest(now(), updated_at)
     where model_id = :model_id and ${MAY_MANAGE}
       and (:lora_name?::text is null or exists (select from lora where ${ownsLoraSql("lora")}))
     returning ${MODEL_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'models.update', model_id::text, :audited_change::jsonb
     from changed
   )
   select ${MODEL_COLUMNS} from changed`,
);

/** The audit log has the values that decide about access, and of texts only that they changed. */
const toAuditedChange = ({ model_type, deployment_id, visibility, status, ...texts }: CustomModelChange) => ({
  ...{ model_type, deployment_id, visibility, status },
  fields: Object.keys(texts).sort(),
});

/** Undefined if there is no such model to manage, or if another user owns the LoRA. */
export async function updateCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
  change: CustomModelChange,
): Promise<CustomModelRow | undefined> {
  const [row] = await db.execute(UPDATE, {
    ...managerParameters(manager),
    ...actorParameters(manager),
    is_operator: manager.isOperator,
    model_id: modelId,
    lora_name: change.deployment_id === undefined ? undefined : normalizeLoraName(change.deployment_id),
    name: change.name,
    model_type: change.model_type,
    deployment_id: change.deployment_id,
    has_trigger_word: change.trigger_word !== undefined,
    trigger_word: change.trigger_word,
    has_description: change.description !== undefined,
    description: change.description,
    has_preview_image_url: change.preview_image_url !== undefined,
    preview_image_url: change.preview_image_url,
    visibility: change.visibility,
    status: change.status,
    audited_change: toAuditedChange(change),
  });
  return row;
}

const DELETE = statement(
  "models.delete",
  `with deleted as (
     delete from models where model_id = :model_id and ${MAY_MANAGE} returning ${MODEL_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'models.delete', model_id::text,
       jsonb_build_object('deployment_id', deployment_id)
     from deleted
   )
   select ${MODEL_COLUMNS} from deleted`,
);

/** Deletes the model with its grants, and returns it. */
export async function deleteCustomModel(
  db: Database,
  manager: ModelManager,
  modelId: string,
): Promise<CustomModelRow | undefined> {
  const [row] = await db.execute(DELETE, {
    ...managerParameters(manager),
    ...actorParameters(manager),
    model_id: modelId,
  });
  return row;
}

export type UsableModel = Pick<CustomModelRow, "model_id" | "model_type" | "deployment_id" | "trigger_word">;
/**
 * `usable`: the models of these ids and LoRAs that the user may use. `registered_loras`: the LoRAs that have an
 * owner.
 */
export type ModelAccess = { usable: (UsableModel & { lora_name: string })[]; registered_loras: string[] };

const FIND_ACCESS = statement(
  "models.find_access",
  `select
     coalesce((select jsonb_agg(jsonb_build_object('model_id', model_id, 'model_type', model_type,
         'lora_name', lora_name, 'deployment_id', deployment_id, 'trigger_word', trigger_word))
       from models where (model_id = any(:model_ids::uuid[]) or lora_name = any(:loras)) and ${MAY_USE}), '[]')
       as usable,
     array(select lora_name from lora_names where lora_name = any(:loras)) as registered_loras`,
).columns<ModelAccess>();

/** The access of a user to these models and LoRAs. A missing model and a forbidden one cannot be told apart. */
export async function findModelAccess(
  db: Database,
  { tenant_id, user_id }: ResourceOwner,
  { modelIds, loras }: { modelIds: string[]; loras: string[] },
): Promise<ModelAccess> {
  const values = { tenant_id, user_id, model_ids: modelIds, loras: loras.map(normalizeLoraName) };
  const [row] = await db.execute(FIND_ACCESS, values);
  return row!;
}
