// The registry of custom models, in the name of one caller. A model that they may not use and no model at all are the same
// answer; one that they may use but not change is told as such.
import { createHash } from "node:crypto";
import { missingScopes } from "../access/scopes.ts";
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
  type ModelGrantee,
  type ModelGrantRow,
} from "../db/library/model-grants.ts";
import { type Caller, findIdempotencyKey } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { ModelRegistry } from "../kit/operation.ts";
import type { CustomModel, ModelGrant } from "../kit/schemas/custom-models.ts";
import { fingerprintRequest } from "../runs/accept-run.ts";
import type { Services } from "../runs/services.ts";
import type { CursorSigner } from "./list-runs.ts";

type RequestContext = { caller: Caller; idempotencyKey?: string | undefined; onReplay?: (() => void) | undefined };
type Dependencies = Pick<Services, "db" | "newId" | "loraNames">;

export function createModelRegistry(
  services: Dependencies,
  cursors: CursorSigner,
  context: RequestContext,
): ModelRegistry {
  const { db } = services;
  const { caller } = context;
  const manager = toModelManager(caller);
  /** Why something could not be changed. */
  const explainRefusal = async (modelId: string): Promise<Fault> => {
    const visibleModel = await findCustomModel(db, manager, modelId);
    return new Fault(visibleModel ? "permission_denied" : "model_not_found");
  };
  const requireManageable = async (modelId: string): Promise<void> => {
    const visibleModel = await findCustomModel(db, manager, modelId);
    if (!visibleModel?.may_manage) throw new Fault(visibleModel ? "permission_denied" : "model_not_found");
  };
  const toGrantee = (grantee: { tenant_id?: string | undefined; user_id?: string | undefined }): ModelGrantee => ({
    tenant_id: grantee.tenant_id ?? caller.tenant_id,
    user_id: grantee.user_id ?? null,
  });
  return {
    create: async (draft) => renderModel(await createModelIdempotently(services, manager, draft, context)),
    async get(modelId) {
      const row = await findCustomModel(db, manager, modelId);
      if (!row) throw new Fault("model_not_found");
      return renderModel(row);
    },
    async list({ cursor, limit, ...filter }) {
      const scope = cursorScope("models", caller, filter);
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listCustomModels(db, manager, { ...filter, before }, limit + 1);
      const data = rows.slice(0, limit).map(renderModel);
      return { data, next_cursor: rows.length > limit ? cursors.make(scope, data.at(-1)!.model_id) : null };
    },
    async update(modelId, change) {
      await requireManageable(modelId);
      assertMayRegister(services, manager, change);
      const row = await updateCustomModel(db, manager, modelId, change);
      if (row) return renderModel(row);
      throw change.deployment_id === undefined ? await explainRefusal(modelId) : loraNotRegistrable();
    },
    async delete(modelId) {
      const row = await deleteCustomModel(db, manager, modelId);
      if (!row) throw await explainRefusal(modelId);
      return renderModel(row);
    },
    async grants(modelId, { cursor, limit }) {
      await requireManageable(modelId);
      const scope = cursorScope("grants", caller, modelId);
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listModelGrantRows(db, manager, modelId, { before, limit: limit + 1 });
      const data = rows.slice(0, limit).map(renderGrant);
      return { data, next_cursor: rows.length > limit ? cursors.make(scope, data.at(-1)!.grant_id) : null };
    },
    async grant(modelId, grantee) {
      await requireManageable(modelId);
      const idempotency = await resolveIdempotency(services, context, [
        "models.grants.create",
        { modelId, ...grantee },
      ]);
      const row = await insertModelGrant(db, manager, modelId, {
        ...toGrantee(grantee),
        grant_id: services.newId(),
        idempotency,
      });
      if (!row) throw await explainRefusal(modelId);
      return renderGrant(row);
    },
    async revoke(modelId, grantee) {
      await requireManageable(modelId);
      const row = await deleteModelGrantRow(db, manager, modelId, toGrantee(grantee));
      if (!row)
        throw validationFault(grantee.user_id === undefined ? "/tenant_id" : "/user_id", "There is no such grant.");
      return renderGrant(row);
    },
  };
}

const toModelManager = ({ tenant_id, user_id, role, scopes }: Caller): ModelManager => ({
  ...{ tenant_id, user_id, isAdmin: role === "owner" },
  isOperator: role === "owner" && missingScopes(scopes, ["tenants:write"]).length === 0,
});

const cursorScope = (list: string, { tenant_id, user_id }: Caller, filter: unknown) =>
  createHash("sha256")
    .update(JSON.stringify([list, tenant_id, user_id, filter]))
    .digest("hex");

/**
 * Registering a LoRA gives a right to it, so only a name that is everybody's, or that nobody has, may be taken; the operator
 * may take any. To show a model to every tenant is the operator's, too.
 */
function assertMayRegister(
  { loraNames }: Dependencies,
  { isOperator }: ModelManager,
  { deployment_id, visibility }: CustomModelChange,
): void {
  if (isOperator) return;
  if (visibility === "public") throw new Fault("permission_denied");
  if (
    deployment_id === undefined ||
    loraNames.allowsUnregistered ||
    loraNames.names.has(normalizeLoraName(deployment_id))
  )
    return;
  throw loraNotRegistrable();
}

/** The same for a name that is not on the operator's list and for one that belongs to somebody else. */
const loraNotRegistrable = () =>
  validationFault("/deployment_id", "This deployment_id cannot be registered by your tenant. Ask the operator.");

const validationFault = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "unknown_value", message }] });

/** The same key makes the same model once; asked again it answers that model as it stands now. */
async function createModelIdempotently(
  services: Dependencies,
  keeper: ModelManager,
  draft: CustomModelFields,
  context: RequestContext,
): Promise<CustomModelRow> {
  const { db, newId } = services;
  const idempotency = await resolveIdempotency(services, context, ["models.create", draft]);
  if (idempotency?.createdId) {
    const row = await findCustomModel(db, keeper, idempotency.createdId);
    if (!row) throw new Fault("model_not_found");
    return row;
  }
  assertMayRegister(services, keeper, draft);
  const { ownsLora: isTheirs, row } = await insertCustomModel(db, keeper, { ...draft, model_id: newId(), idempotency });
  if (row) return row;
  throw isTheirs ? new Fault("idempotency_in_progress") : loraNotRegistrable();
}

type IdempotencyRecord = { key: string; fingerprint: Buffer; createdId?: string };

/** What the key is kept by, and what it made before, if anything. */
async function resolveIdempotency(
  { db }: Dependencies,
  { caller, idempotencyKey: key, onReplay }: RequestContext,
  [operation, given]: [string, object],
): Promise<IdempotencyRecord | undefined> {
  if (key === undefined) return undefined;
  const fingerprint = fingerprintRequest(operation, { ...given });
  const known = await findIdempotencyKey(db, caller.tenant_id, key);
  if (!known) return { key, fingerprint };
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  onReplay?.();
  return { key, fingerprint, createdId: known.resource_id };
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
