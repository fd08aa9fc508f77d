// Delegation: a credential can grant at most its own scopes, limits and expiry.
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { AGENT_SCOPE, CONTENT_SCOPE, missingScopes } from "./scopes.ts";

export type DelegatedPermissions = { scopes: readonly string[]; limits: JsonObject; expires_at: Date | null };

/** Access tokens cannot manage credentials or webhooks. */
export function assertNotAccessToken({ token }: Caller): void {
  if (token) throw new Fault("permission_denied", { reason: "token" });
}

/** Throws if the granted permissions exceed those of the caller. */
export function assertCanDelegate(caller: Caller, granted: DelegatedPermissions): void {
  assertNotAccessToken(caller);
  const required = missingScopes(listGrantableScopes(caller), granted.scopes);
  if (required.length > 0) throw new Fault("insufficient_scope", { required });
  const exceeded = Object.entries(caller.limits).filter(([name, max]) => isWider(granted.limits[name], max));
  if (exceeded.length > 0) throw new Fault("permission_denied", { limits: Object.fromEntries(exceeded) });
  const { grants_until } = caller;
  if (grants_until && (!granted.expires_at || granted.expires_at > grants_until)) {
    throw new Fault("permission_denied", { expires_at: grants_until.toISOString() });
  }
}

/**
 * `agents:write` only opens another way to what `*` permits, so a credential with `*` can grant it. An operator with
 * `tenants:*` can grant `content:read`: the audit log then shows who took the right to read content, and when.
 */
const listGrantableScopes = ({ scopes }: Caller): string[] => [
  ...scopes,
  ...(scopes.includes("*") ? [AGENT_SCOPE] : []),
  ...(missingScopes(scopes, ["tenants:*"]).length === 0 ? [CONTENT_SCOPE] : []),
];

/** A limit of the caller that the request leaves out is inherited. */
export const inheritLimits = (caller: Caller, limits: JsonObject): JsonObject => ({
  ...caller.limits,
  ...omitUnset(limits),
});

const omitUnset = (limits: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null && limit !== undefined));

const isWider = (granted: unknown, own: unknown) =>
  typeof own === "number" && (typeof granted !== "number" || granted > own);
