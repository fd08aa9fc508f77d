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
  summary: "Make an API key; it is shown in this answer and never again",
  http: { method: "POST", path: "/keys", bodies: ["json"], status: 201 },
  input: z.object({
    name: keyName(),
    scopes: scopes(SCOPES_DESCRIPTION),
    expires_at: expiry().optional(),
    limits: limitsField("What it may use; never more than the key that asks").default({}),
    user_id: userId("Whose key it is; an owner may make keys for other members").optional(),
  }),
  output: NewApiKey,
  example: { name: "The website", scopes: ["images:write", "runs:read"], limits: { spend_per_day: 20 } },
  respond: (input, ask) => ask.keys.create(input),
});
