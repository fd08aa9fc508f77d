// Delegation: a credential can grant at most its own scopes, limits and expiry.
import type { Caller } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { missingScopes } from "./scopes.ts";

export type DelegatedPermissions = { scopes: readonly string[]; limits: JsonObject; expires_at: Date | null };

/** A token is for using the service, not for handing out its rights. */
export function assertNotAccessToken({ token }: Caller): void {
  if (token) throw new Fault("permission_denied", { reason: "token" });
}

/** Throws where the gift reaches beyond what the caller has. */
export function assertCanDelegate(caller: Caller, gift: DelegatedPermissions): void {
  assertNotAccessToken(caller);
  const required = missingScopes(caller.scopes, gift.scopes);
  if (required.length > 0) throw new Fault("insufficient_scope", { required });
  const loose = Object.entries(caller.limits).filter(([name, most]) => isWider(gift.limits[name], most));
  if (loose.length > 0) throw new Fault("permission_denied", { limits: Object.fromEntries(loose) });
  const { expires_at } = caller;
  if (expires_at && (!gift.expires_at || gift.expires_at > expires_at)) {
    throw new Fault("permission_denied", { expires_at: expires_at.toISOString() });
  }
}

/** Where the caller is limited, what it gives is too, whether that was said or not. */
export const inheritLimits = (caller: Caller, limits: JsonObject): JsonObject => ({
  ...caller.limits,
  ...onlySet(limits),
});

const onlySet = (limits: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(limits).filter(([, figure]) => figure !== null && figure !== undefined));

const isWider = (given: unknown, own: unknown) => typeof own === "number" && (typeof given !== "number" || given > own);
