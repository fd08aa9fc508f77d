import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import {
  assertCanDelegate,
  assertIsBelow,
  assertMayKeepChildren,
  assertNotAbove,
  assertNotAccessToken,
} from "../../access/delegation.ts";
import { findVisibleKey, renderOneKey } from "../../access/keys.ts";
import { ApiKey, keyId } from "../../contract/schemas/access.ts";
import { revokeApiKey } from "../../db/access/api-keys.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<AccessDependencies, "ids" | "invalidateCredentials">;

export const revokeKey = defineQuery({
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
  async handle({ key_id: keyId, keep_children = false, keep_keys = [] }, request, services: Needs) {
    const { database, caller } = request;
    const row = await findVisibleKey(request, keyId);
    assertNotAccessToken(caller);
    if (row.key_id !== caller.key_id)
      assertCanDelegate(caller, { ...row, limits: caller.limits, expires_at: caller.grants_until });
    assertNotAbove(caller, row);
    if (keep_children || keep_keys.length > 0) assertMayKeepChildren(caller, row);
    // Before anything ends: a mistyped ID must not end the key that should stay.
    for (const kept of await Promise.all(keep_keys.map((each) => findVisibleKey(request, each))))
      assertIsBelow(row, kept);
    const kept = { keepChildren: keep_children, keptKeyIds: keep_keys };
    await revokeApiKey(database, caller, { keyId, eventId: services.ids.next(), ...kept });
    services.invalidateCredentials();
    return renderOneKey(request, await findVisibleKey(request, keyId));
  },
});
