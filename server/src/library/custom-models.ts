// What the operations on custom models have in common: who may manage and register them, and how they are shown. A
// model without access returns model_not_found, as if it did not exist; a model that the caller may use but not manage
// returns permission_denied.
import { missingScopes } from "../access/scopes.ts";
import type { CustomModel, ModelGrant } from "../contract/schemas/custom-models.ts";
import type { Caller } from "../db/access/caller.ts";
import type { Database } from "../db/connect.ts";
import {
  type CustomModelChange,
  type CustomModelRow,
  findCustomModel,
  type ModelManager,
  normalizeLoraName,
} from "../db/library/custom-models.ts";
import type { ModelGrantee, ModelGrantRow } from "../db/library/model-grants.ts";
import { Fault } from "../faults/faults.ts";
import type { AllowedLoras } from "../runs/accept/custom-models.ts";

export type LoraPolicy = { loras: AllowedLoras };

/** Explains why a change matched no row. */
export const explainRefusal = async (database: Database, manager: ModelManager, modelId: string): Promise<Fault> => {
  const visibleModel = await findCustomModel(database, manager, modelId);
  return new Fault(visibleModel ? "permission_denied" : "model_not_found");
};

export async function requireManageable(database: Database, manager: ModelManager, modelId: string): Promise<void> {
  const visibleModel = await findCustomModel(database, manager, modelId);
  if (!visibleModel?.may_manage) throw new Fault(visibleModel ? "permission_denied" : "model_not_found");
}

type Grantee = { tenant_id?: string | undefined; user_id?: string | undefined };

/** Without a tenant, a user of the caller's own. */
export const toGrantee = (caller: Caller, { tenant_id, user_id }: Grantee): ModelGrantee => ({
  tenant_id: tenant_id ?? caller.tenant_id,
  user_id: user_id ?? null,
});

export const toModelManager = ({ tenant_id, user_id, key_id, role, scopes }: Caller): ModelManager => ({
  ...{ tenant_id, user_id, key_id, isAdmin: role === "owner" },
  isOperator: role === "owner" && missingScopes(scopes, ["tenants:write"]).length === 0,
});

/**
 * Registering a LoRA grants access to it. A tenant may only register names on the operator's list, or unregistered
 * names if the operator allows them. Only the operator may register any name or make a model public.
 */
export function assertMayRegister(
  loras: AllowedLoras,
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
export const loraNotRegistrable = () =>
  validationFault("/deployment_id", "This deployment_id cannot be registered by your tenant. Ask the operator.");

export const validationFault = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "unknown_value", message }] });

export const renderModel = ({
  model_id,
  owner,
  status,
  created_at,
  updated_at,
  ...row
}: CustomModelRow): CustomModel => ({
  ...{ model_id, name: row.name, model_type: row.model_type, deployment_id: row.deployment_id },
  ...{ trigger_word: row.trigger_word, description: row.description, preview_image_url: row.preview_image_url },
  ...{ visibility: row.visibility, owner, status },
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

export const renderGrant = ({ created_at, ...row }: ModelGrantRow): ModelGrant => ({
  ...row,
  created_at: created_at.toISOString(),
});
