import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { ApiKey, expiry, keyId, keyName, limitsField, SCOPES_DESCRIPTION, scopes } from "../../kit/schemas/access.ts";

export const updateKey = defineOperation({
  name: "keys.update",
  summary: "Change the name, scopes, limits or expiry of a key",
  http: { method: "PATCH", path: "/keys/:key_id", bodies: ["json"] },
  changes: "access",
  input: z.object({
    key_id: keyId(),
    name: keyName().optional(),
    scopes: scopes(SCOPES_DESCRIPTION).optional(),
    expires_at: expiry().optional(),
    limits: limitsField("All limits of the key. Limits that you omit are removed").optional(),
  }),
  rules: [atLeastOneChange("name", "scopes", "expires_at", "limits")],
  output: ApiKey,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", scopes: ["runs:read"] },
  respond: ({ key_id, ...change }, services) => services.keys.update(key_id, change),
});
