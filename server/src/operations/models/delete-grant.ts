import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { grantee, ModelGrant, modelId } from "../../kit/schemas/custom-models.ts";

export const deleteModelGrant = defineOperation({
  name: "models.grants.delete",
  summary: "Revoke a grant. Queued runs that depend on it fail",
  http: { method: "DELETE", path: "/models/:model_id/grants" },
  input: z.object({ model_id: modelId(), ...grantee }),
  rules: [atLeastOne("user_id", "tenant_id")],
  output: ModelGrant,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", user_id: "maria" },
  respond: ({ model_id, ...to }, services) => services.models.revoke(model_id, to),
});
