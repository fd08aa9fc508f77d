// The registry of custom models, in the name of one caller. A model that they may not use and no model at all are the same
// answer; one that they may use but not change is told as such.
import { createHash } from "node:crypto";
import { missingFrom } from "../access/scopes.ts";
import { createGrant, deleteGrant, type Grantee, type GrantRow, listGrants } from "../db/model-grants.ts";
import {
  changeModel,
  createModel,
  deleteModel,
  findModel,
  foldLora,
  type Keeper,
  listModels,
  type ModelChange,
  type ModelContent,
  type ModelRow,
} from "../db/models.ts";
import { type Caller, findKey } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { ModelRegistry } from "../kit/operation.ts";
import type { Model, ModelGrant } from "../kit/shapes-models.ts";
import type { House } from "./house.ts";
import type { CursorSigner } from "./list.ts";
import { fingerprintOf } from "./start.ts";

type Context = { caller: Caller; idempotencyKey?: string | undefined; onReplay?: (() => void) | undefined };
type Shelf = Pick<House, "db" | "newId" | "loraNames">;

export function registryOf(shelf: Shelf, cursors: CursorSigner, context: Context): ModelRegistry {
  const { db } = shelf;
  const { caller } = context;
  const keeper = keeperOf(caller);
  /** Why something could not be changed. */
  const refusal = async (modelId: string): Promise<Fault> => {
    const seen = await findModel(db, keeper, modelId);
    return new Fault(seen ? "permission_denied" : "model_not_found");
  };
  const managed = async (modelId: string): Promise<void> => {
    const seen = await findModel(db, keeper, modelId);
    if (!seen?.may_manage) throw new Fault(seen ? "permission_denied" : "model_not_found");
  };
  const to = (grantee: { tenant_id?: string | undefined; user_id?: string | undefined }): Grantee => ({
    tenant_id: grantee.tenant_id ?? caller.tenant_id,
    user_id: grantee.user_id ?? null,
  });
  return {
    create: async (draft) => showModel(await createOnce(shelf, keeper, draft, context)),
    async get(modelId) {
      const row = await findModel(db, keeper, modelId);
      if (!row) throw new Fault("model_not_found");
      return showModel(row);
    },
    async list({ cursor, limit, ...filter }) {
      const scope = scopeOf("models", caller, filter);
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listModels(db, keeper, { ...filter, before }, limit + 1);
      const data = rows.slice(0, limit).map(showModel);
      return { data, next_cursor: rows.length > limit ? cursors.make(scope, data.at(-1)!.model_id) : null };
    },
    async update(modelId, change) {
      await managed(modelId);
      refuseForeign(shelf, keeper, change);
      const row = await changeModel(db, keeper, modelId, change);
      if (row) return showModel(row);
      throw change.deployment_id === undefined ? await refusal(modelId) : unknownLora();
    },
    async delete(modelId) {
      const row = await deleteModel(db, keeper, modelId);
      if (!row) throw await refusal(modelId);
      return showModel(row);
    },
    async grants(modelId, { cursor, limit }) {
      await managed(modelId);
      const scope = scopeOf("grants", caller, modelId);
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listGrants(db, keeper, modelId, { before, limit: limit + 1 });
      const data = rows.slice(0, limit).map(showGrant);
      return { data, next_cursor: rows.length > limit ? cursors.make(scope, data.at(-1)!.grant_id) : null };
    },
    async grant(modelId, grantee) {
      await managed(modelId);
      const idempotency = await idempotencyOf(shelf, context, ["models.grants.create", { modelId, ...grantee }]);
      const row = await createGrant(db, keeper, modelId, { ...to(grantee), grant_id: shelf.newId(), idempotency });
      if (!row) throw await refusal(modelId);
      return showGrant(row);
    },
    async revoke(modelId, grantee) {
      await managed(modelId);
      const row = await deleteGrant(db, keeper, modelId, to(grantee));
      if (!row) throw misfit(grantee.user_id === undefined ? "/tenant_id" : "/user_id", "There is no such grant.");
      return showGrant(row);
    },
  };
}

const keeperOf = ({ tenant_id, user_id, role, scopes }: Caller): Keeper => ({
  ...{ tenant_id, user_id, isAdmin: role === "owner" },
  isOperator: role === "owner" && missingFrom(scopes, ["tenants:write"]).length === 0,
});

const scopeOf = (list: string, { tenant_id, user_id }: Caller, filter: unknown) =>
  createHash("sha256")
    .update(JSON.stringify([list, tenant_id, user_id, filter]))
    .digest("hex");

/**
 * Registering a LoRA gives a right to it, so only a name that is everybody's, or that nobody has, may be taken; the operator
 * may take any. To show a model to every tenant is the operator's, too.
 */
function refuseForeign({ loraNames }: Shelf, { isOperator }: Keeper, { deployment_id, visibility }: ModelChange): void {
  if (isOperator) return;
  if (visibility === "public") throw new Fault("permission_denied");
  if (deployment_id === undefined || loraNames.isOpen || loraNames.names.has(foldLora(deployment_id))) return;
  throw unknownLora();
}

/** The same for a name that is not on the operator's list and for one that belongs to somebody else. */
const unknownLora = () => misfit("/deployment_id", "This name cannot be registered here; the operator can.");

const misfit = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "unknown_value", message }] });

/** The same key makes the same model once; asked again it answers that model as it stands now. */
async function createOnce(shelf: Shelf, keeper: Keeper, draft: ModelContent, context: Context): Promise<ModelRow> {
  const { db, newId } = shelf;
  const idempotency = await idempotencyOf(shelf, context, ["models.create", draft]);
  if (idempotency?.madeId) {
    const row = await findModel(db, keeper, idempotency.madeId);
    if (!row) throw new Fault("model_not_found");
    return row;
  }
  refuseForeign(shelf, keeper, draft);
  const { isTheirs, row } = await createModel(db, keeper, { ...draft, model_id: newId(), idempotency });
  if (row) return row;
  throw isTheirs ? new Fault("idempotency_in_progress") : unknownLora();
}

type Idempotency = { key: string; fingerprint: Buffer; madeId?: string };

/** What the key is kept by, and what it made before, if anything. */
async function idempotencyOf(
  { db }: Shelf,
  { caller, idempotencyKey: key, onReplay }: Context,
  [operation, given]: [string, object],
): Promise<Idempotency | undefined> {
  if (key === undefined) return undefined;
  const fingerprint = fingerprintOf(operation, { ...given });
  const known = await findKey(db, caller.tenant_id, key);
  if (!known) return { key, fingerprint };
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  onReplay?.();
  return { key, fingerprint, madeId: known.run_id };
}

const showModel = ({ model_id, owner, status, created_at, updated_at, ...row }: ModelRow): Model => ({
  ...{ model_id, name: row.name, model_type: row.model_type, deployment_id: row.deployment_id },
  ...{ trigger_word: row.trigger_word, description: row.description, preview_image_url: row.preview_image_url },
  ...{ visibility: row.visibility, owner, status },
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const showGrant = ({ created_at, ...row }: GrantRow): ModelGrant => ({ ...row, created_at: created_at.toISOString() });
