import { z } from "zod";
import type { RequestContext } from "../../access/request-context.ts";
import { type AccessLimits, Identity, type TenantLimits } from "../../contract/schemas/access.ts";
import type { Caller } from "../../db/access/caller.ts";
import { findTenant } from "../../db/access/tenants.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

/** Who a caller is, and what its credential permits: for interfaces that show or hide what a person may do. */
export async function describeCaller({
  caller,
  database,
}: Pick<RequestContext, "caller" | "database">): Promise<Identity> {
  const tenant = await findTenant(database, caller.tenant_id);
  // The tenant was deleted after the credential was verified.
  if (!tenant) throw new Fault("invalid_api_key");
  const { tenant_id: id, name, limits, retention_days } = tenant;
  return {
    user_id: caller.user_id,
    role: caller.role,
    tenant: { id, name, limits: limits as TenantLimits, retention_days },
    credential: {
      kind: kindOf(caller),
      key_id: caller.key_id,
      scopes: [...caller.scopes],
      limits: caller.limits as AccessLimits,
      expires_at: caller.expires_at?.toISOString() ?? null,
      max_spend: caller.token?.max_spend ?? null,
      end_user: caller.token?.end_user ?? null,
      customer: caller.token?.customer ?? null,
      tags: [...(caller.token?.tags ?? [])],
    },
  };
}

const kindOf = ({ session, token, key_id }: Caller): Identity["credential"]["kind"] => {
  if (session) return "session";
  return token ? "token" : key_id ? "key" : "external_token";
};

export const getMe = defineQuery({
  name: "me.get",
  summary: "Get the user, the tenant and the permissions of the credential. Every credential may ask",
  http: { method: "GET", path: "/me" },
  input: z.object({}),
  output: Identity,
  example: {},
  handle: (_input, request) => describeCaller(request),
});
