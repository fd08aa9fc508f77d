import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { grantee, ModelGrant, modelId } from "../../kit/schemas/custom-models.ts";

export const createModelGrant = defineOperation({
  name: "models.grants.create",
  summary: "Allow a user or a tenant to use a custom model",
  http: { method: "POST", path: "/models/:model_id/grants", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ model_id: modelId(), ...grantee }),
  rules: [atLeastOne("user_id", "tenant_id")],
  output: ModelGrant,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", user_id: "maria" },
  respond: ({ model_id, ...to }, services) => services.models.grant(model_id, to),
});
