// The registry of custom models, on behalf of one caller. A model without access returns model_not_found, as if it did
// not exist; a model that the caller may use but not manage returns permission_denied.
import { cursorScope } from "../access/cursors.ts";
import type { RequestContext } from "../access/request-context.ts";
import { missingScopes } from "../access/scopes.ts";
import type { Caller } from "../db/access/caller.ts";
import {
  type CustomModelChange,
  type CustomModelFields,
  type CustomModelRow,
  deleteCustomModel,
  findCustomModel,
  insertCustomModel,
  listCustomModels,
  type ModelManager,
  normalizeLoraName,
  updateCustomModel,
} from "../db/library/custom-models.ts";
import {
  deleteModelGrantRow,
  insertModelGrant,
  listModelGrantRows,
  MAX_GRANTS_TO_OTHER_TENANTS,
  type ModelGrantee,
  type ModelGrantRow,
} from "../db/library/model-grants.ts";
import { Fault } from "../faults.ts";
import { createOnce } from "../idempotency/create-once.ts";
import type { ModelRegistry } from "../kit/operation.ts";
import type { CustomModel, ModelGrant } from "../kit/schemas/custom-models.ts";
import type { Services } from "../runs/services.ts";

type Dependencies = Pick<Services, "ids" | "loras">;

export function createModelRegistry(services: Dependencies, context: RequestContext): ModelRegistry {
  const { database, caller, cursors } = context;
  const manager = toModelManager(caller);
  /** Explains why a change matched no row. */
  const explainRefusal = async (modelId: string): Promise<Fault> => {
    const visibleModel = await findCustomModel(database, manager, modelId);
    return new Fault(visibleModel ? "permission_denied" : "model_not_found");
  };
  const requireManageable = async (modelId: string): Promise<void> => {
    const visibleModel = await findCustomModel(database, manager, modelId);
    if (!visibleModel?.may_manage) throw new Fault(visibleModel ? "permission_denied" : "model_not_found");
  };
  const toGrantee = (grantee: { tenant_id?: string | undefined; user_id?: string | undefined }): ModelGrantee => ({
    tenant_id: grantee.tenant_id ?? caller.tenant_id,
    user_id: grantee.user_id ?? null,
  });
  return {
    create: async (draft) => renderModel(await createModelIdempotently(services, manager, draft, context)),
    async get(modelId) {
      const row = await findCustomModel(database, manager, modelId);
      if (!row) throw new Fault("model_not_found");
      return renderModel(row);
    },
    async list({ cursor, limit, ...filter }) {
      const scope = scopeOf("models", caller, filter);
      const before = cursor === undefined ? undefined : cursors.verify(scope, cursor);
      const rows = await listCustomModels(database, manager, { ...filter, before }, limit + 1);
      const data = rows.slice(0, limit).map(renderModel);
      return { data, next_cursor: rows.length > limit ? cursors.sign(scope, data.at(-1)!.model_id) : null };
    },
    async update(modelId, change) {
      await requireManageable(modelId);
      assertMayRegister(services, manager, change);
      const row = await updateCustomModel(database, manager, modelId, change);
      if (row) return renderModel(row);
      throw change.deployment_id === undefined ? await explainRefusal(modelId) : loraNotRegistrable();
    },
    async delete(modelId) {
      const row = await deleteCustomModel(database, manager, modelId);
      if (!row) throw await explainRefusal(modelId);
      return renderModel(row);
    },
    async grants(modelId, { cursor, limit }) {
      await requireManageable(modelId);
      const scope = scopeOf("grants", caller, modelId);
      const before = cursor === undefined ? undefined : cursors.verify(scope, cursor);
      const rows = await listModelGrantRows(database, manager, modelId, { before, limit: limit + 1 });
      const data = rows.slice(0, limit).map(renderGrant);
      return { data, next_cursor: rows.length > limit ? cursors.sign(scope, data.at(-1)!.grant_id) : null };
    },
    async grant(modelId, grantee) {
      await requireManageable(modelId);
      const newGrant = { ...toGrantee(grantee), grant_id: services.ids.next() };
      const row = await createOnce(context, {
        operation: "models.grants.create",
        kind: "model_grant",
        input: { modelId, ...grantee },
        create: (idempotency) => insertModelGrant(database, manager, modelId, { ...newGrant, idempotency }),
        // The stored id is unused if the grantee had a grant before the first request. Inserting is idempotent and
        // returns the grant of the grantee.
        find: () => insertModelGrant(database, manager, modelId, newGrant),
        // The caller may manage the model, so only the number of grants can be the reason.
        explainRefusal: () =>
          new Fault("conflict", { retryable: false, reason: "too_many_grants", most: MAX_GRANTS_TO_OTHER_TENANTS }),
      });
      return renderGrant(row);
    },
    async revoke(modelId, grantee) {
      await requireManageable(modelId);
      const row = await deleteModelGrantRow(database, manager, modelId, toGrantee(grantee));
      if (!row)
        throw validationFault(grantee.user_id === undefined ? "/tenant_id" : "/user_id", "There is no such grant.");
      return renderGrant(row);
    },
  };
}

const toModelManager = ({ tenant_id, user_id, key_id, role, scopes }: Caller): ModelManager => ({
  ...{ tenant_id, user_id, key_id, isAdmin: role === "owner" },
  isOperator: role === "owner" && missingScopes(scopes, ["tenants:write"]).length === 0,
});

const scopeOf = (list: string, { tenant_id, user_id }: Caller, filter: unknown) =>
  cursorScope(list, tenant_id, user_id, filter);

/**
 * Registering a LoRA grants access to it. A tenant may only register names on the operator's list, or unregistered
 * names if the operator allows them. Only the operator may register any name or make a model public.
 */
function assertMayRegister(
  { loras }: Dependencies,
  { isOperator }: ModelManager,
  { deployment_id, visibility }: CustomModelChange,
): void {
  if (isOperator) return;
  if (visibility === "public") throw new Fault("permission_denied");
  if (deployment_id === undefined || loras.allowsUnregistered || loras.names.has(normalizeLoraName(deployment_id)))
    return;
  throw loraNotRegistrable();
}

/** The same error for a name that is not on the operator's list and for one that another tenant has registered. */
const loraNotRegistrable = () =>
  validationFault("/deployment_id", "This deployment_id cannot be registered by your tenant. Ask the operator.");

const validationFault = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "unknown_value", message }] });

/** A replay returns the model in its current state. */
async function createModelIdempotently(
  services: Dependencies,
  manager: ModelManager,
  draft: CustomModelFields,
  context: RequestContext,
): Promise<CustomModelRow> {
  const { database } = context;
  return createOnce<CustomModelRow>(context, {
    operation: "models.create",
    kind: "custom_model",
    input: draft,
    async create(idempotency) {
      assertMayRegister(services, manager, draft);
      const newModel = { ...draft, model_id: services.ids.next(), idempotency };
      const { ownsLora, row } = await insertCustomModel(database, manager, newModel);
      if (!ownsLora) throw loraNotRegistrable();
      return row;
    },
    find: (modelId) => findCustomModel(database, manager, modelId),
    missingFault: "model_not_found",
  });
}

const renderModel = ({ model_id, owner, status, created_at, updated_at, ...row }: CustomModelRow): CustomModel => ({
  ...{ model_id, name: row.name, model_type: row.model_type, deployment_id: row.deployment_id },
  ...{ trigger_word: row.trigger_word, description: row.description, preview_image_url: row.preview_image_url },
  ...{ visibility: row.visibility, owner, status },
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const renderGrant = ({ created_at, ...row }: ModelGrantRow): ModelGrant => ({
  ...row,
  created_at: created_at.toISOString(),
});
