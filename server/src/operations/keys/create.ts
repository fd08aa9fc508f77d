import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import {
  expiry,
  keyName,
  limitsField,
  NewApiKey,
  SCOPES_DESCRIPTION,
  scopes,
  userId,
} from "../../kit/schemas/access.ts";

export const createKey = defineOperation({
  name: "keys.create",
  summary: "Create an API key. Only this response contains the key",
  http: { method: "POST", path: "/keys", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    name: keyName(),
    scopes: scopes(SCOPES_DESCRIPTION),
    expires_at: expiry().optional(),
    limits: limitsField(
      "Limits of the key. They cannot exceed the limits of the key that creates it, which count this key, too",
    ).default({}),
    user_id: userId(
      "Owner of the key. Only owners of the tenant can create keys for other members. Default: you",
    ).optional(),
  }),
  output: NewApiKey,
  example: { name: "The website", scopes: ["images:write", "runs:read"], limits: { spend_per_day: 20 } },
  respond: (input, services) => services.keys.create(input),
});
