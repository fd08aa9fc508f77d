import { z } from "zod";
import { atLeastOne } from "../../contract/rules.ts";
import { grantee, ModelGrant, modelId } from "../../contract/schemas/custom-models.ts";
import { deleteModelGrantRow } from "../../db/library/model-grants.ts";
import {
  renderGrant,
  requireManageable,
  toGrantee,
  toModelManager,
  validationFault,
} from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

export const deleteModelGrant = defineQuery({
  name: "models.grants.delete",
  summary: "Revoke a grant. Queued runs that depend on it fail",
  http: { method: "DELETE", path: "/models/:model_id/grants" },
  input: z.object({ model_id: modelId(), ...grantee }),
  rules: [atLeastOne("user_id", "tenant_id")],
  output: ModelGrant,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", user_id: "maria" },
  async handle({ model_id, ...from }, { database, caller }) {
    const manager = toModelManager(caller);
    await requireManageable(database, manager, model_id);
    const row = await deleteModelGrantRow(database, manager, model_id, toGrantee(caller, from));
    if (!row) throw validationFault(from.user_id === undefined ? "/tenant_id" : "/user_id", "There is no such grant.");
    return renderGrant(row);
  },
});
