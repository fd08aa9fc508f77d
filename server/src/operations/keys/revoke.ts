import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { ApiKey, keyId } from "../../kit/schemas/access.ts";

export const revokeKey = defineOperation({
  name: "keys.revoke",
  summary: "Revoke a key, all keys created with it, and all their access tokens. Takes effect within 5 s",
  http: { method: "DELETE", path: "/keys/:key_id" },
  changes: "access",
  isUrgent: true,
  input: z.object({
    key_id: keyId(),
    keep_children: z
      .boolean()
      .optional()
      .describe("With true, the keys created with this key stay valid, below the key that created this one"),
    keep_keys: z
      .array(keyId())
      .max(100)
      .optional()
      .describe("IDs of keys created with this key that stay valid, with the keys created with them"),
  }),
  output: ApiKey,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: ({ key_id, ...kept }, services) => services.keys.revoke(key_id, kept),
});
