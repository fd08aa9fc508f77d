import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertCanDelegate, inheritLimits, parentOfNewKey } from "../../access/delegation.ts";
import { newApiKeyRow, renderApiKeys } from "../../access/keys.ts";
import {
  expiry,
  keyName,
  limitsField,
  NewApiKey,
  SCOPES_DESCRIPTION,
  scopes,
  userId,
} from "../../contract/schemas/access.ts";
import { findApiKey, insertApiKey } from "../../db/access/api-keys.ts";
import { Fault } from "../../faults/faults.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import { defineQuery } from "../define-query.ts";

export const createKey = defineQuery({
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
  // A replay returns the key without its secret, because only the digest is stored.
  async handle(draft, request, services: Pick<AccessDependencies, "ids" | "cell">) {
    const { database, caller } = request;
    const user_id = draft.user_id ?? caller.user_id;
    const expires_at = draft.expires_at ? new Date(draft.expires_at) : caller.grants_until;
    const limits = inheritLimits([...caller.ancestors, caller], draft.limits);
    const parent_key_id = parentOfNewKey(caller);
    assertCanDelegate(caller, { scopes: draft.scopes, limits, expires_at });
    if (user_id !== caller.user_id && caller.role !== "owner")
      throw new Fault("permission_denied", { role: caller.role });
    const { key, ...secret } = newApiKeyRow(services);
    const { name, scopes } = draft;
    return createOnce<NewApiKey>(request, {
      operation: "keys.create",
      kind: "api_key",
      input: draft,
      async create(idempotency) {
        const newRow = { ...secret, user_id, name, scopes, limits, expires_at, parent_key_id, idempotency };
        const row = await insertApiKey(database, caller, newRow);
        return row && { ...(await renderApiKeys(request, [row]))[0]!, key };
      },
      async find(keyId) {
        const row = await findApiKey(database, caller.tenant_id, keyId, undefined);
        return row && { ...(await renderApiKeys(request, [row]))[0]!, key: null };
      },
      explainRefusal: () => new Fault("route_not_found"),
    });
  },
});
