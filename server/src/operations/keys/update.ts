import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertCanDelegate, assertWithin, inheritLimits } from "../../access/delegation.ts";
import { findManageableKey, renderOneKey } from "../../access/keys.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import {
  ApiKey,
  expiry,
  keyId,
  keyName,
  limitsField,
  SCOPES_DESCRIPTION,
  scopes,
} from "../../contract/schemas/access.ts";
import { listKeysAbove, updateApiKey } from "../../db/access/api-keys.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

export const updateKey = defineQuery({
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
  async handle(
    { key_id, expires_at, ...change },
    request,
    services: Pick<AccessDependencies, "invalidateCredentials">,
  ) {
    const { database, caller } = request;
    const current = await findManageableKey(request, key_id);
    const until = expires_at === undefined ? undefined : (expires_at && new Date(expires_at)) || null;
    const requested = { ...change, ...(until !== undefined && { expires_at: until }) };
    const above = await listKeysAbove(database, caller.tenant_id, current);
    const limits = change.limits && inheritLimits([caller, ...above], change.limits);
    assertCanDelegate(caller, { ...current, ...requested, limits: limits ?? current.limits });
    for (const key of above) assertWithin(key, { ...requested, ...(limits && { limits }) });
    const row = await updateApiKey(database, caller, current, { ...requested, ...(limits && { limits }) });
    if (!row) throw new Fault("conflict");
    services.invalidateCredentials();
    return renderOneKey(request, row);
  },
});
