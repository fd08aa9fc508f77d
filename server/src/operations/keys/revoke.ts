import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { ApiKey, keyId } from "../../kit/schemas/access.ts";

export const revokeKey = defineOperation({
  name: "keys.revoke",
  summary: "Revoke a key and all access tokens issued with it. Takes effect within 5 s",
  http: { method: "DELETE", path: "/keys/:key_id" },
  changes: "access",
  isUrgent: true,
  input: z.object({ key_id: keyId() }),
  output: ApiKey,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.keys.revoke(input.key_id),
});
