// Delegation: a credential can grant at most its own scopes, limits and expiry, and a key made with a key is its child.
// A key that limits or keys above it bind manages only its descendants: other keys are no way
// out of its limits.

import type { JsonObject } from "../contract/schemas/run.ts";
import { type Caller, limitHolders } from "../db/access/caller.ts";
import { Fault } from "../faults/faults.ts";
import { listGrantableScopes, missingScopes } from "./scopes.ts";

export type DelegatedPermissions = { scopes: readonly string[]; limits: JsonObject; expires_at: Date | null };
/** A key in its tree. `holder_ids`: the keys whose limits count its use, itself last. Empty: only itself. */
type PlacedKey = { key_id: string; holder_ids: readonly string[] };

/** A key, its parent, and so on up to the root. */
const MAX_KEY_DEPTH = 8;

/** Access tokens cannot manage credentials or webhooks. */
export function assertNotAccessToken({ token }: Caller): void {
  if (token) throw new Fault("permission_denied", { reason: "token" });
}

/** Throws if the granted permissions exceed those of the caller. */
export function assertCanDelegate(caller: Caller, granted: DelegatedPermissions): void {
  assertNotAccessToken(caller);
  assertWithin({ ...caller, expires_at: caller.grants_until }, granted);
}

/** Throws if permissions exceed those that bound them. Those that are left out are not checked. */
export function assertWithin(bound: DelegatedPermissions, granted: Partial<DelegatedPermissions>): void {
  const { scopes = [], limits, expires_at } = granted;
  const required = missingScopes(listGrantableScopes(bound.scopes), scopes);
  if (required.length > 0) throw new Fault("insufficient_scope", { required });
  const exceeded = Object.entries(bound.limits).filter(([name, max]) => limits && isWider(limits[name], max));
  if (exceeded.length > 0) throw new Fault("permission_denied", { limits: Object.fromEntries(exceeded) });
  const until = bound.expires_at;
  if (until && expires_at !== undefined && (expires_at === null || expires_at > until)) {
    throw new Fault("permission_denied", { expires_at: until.toISOString() });
  }
}

/** A limit that the request leaves out is the lowest one of the given keys. */
export function inheritLimits(keys: readonly { limits: JsonObject }[], limits: JsonObject): JsonObject {
  const inherited: JsonObject = {};
  for (const [name, max] of keys.flatMap((key) => Object.entries(omitUnset(key.limits))))
    if (inherited[name] === undefined || isWider(inherited[name], max)) inherited[name] = max;
  return { ...inherited, ...omitUnset(limits) };
}

/** Whether limits, of the key or above it, count what the caller does. Tokens of an external issuer have no key. */
const isBound = (caller: Caller) =>
  limitHolders(caller).some(({ limits }, place) => place > 0 || Object.keys(omitUnset(limits)).length > 0);

/**
 * The key above a new key; null for a root. A session of the console makes roots, so that the keys of a person do not
 * end with the key of one sign-in, unless the key of the session is bound: that would be a way out of its limits.
 */
export function parentOfNewKey(caller: Caller): string | null {
  if (caller.session && !isBound(caller)) return null;
  if (limitHolders(caller).length >= MAX_KEY_DEPTH)
    throw new Fault("permission_denied", { reason: "key_depth", max_depth: MAX_KEY_DEPTH });
  return caller.key_id;
}

/** Throws if the key is above the caller's. */
export function assertNotAbove(caller: Caller, key: PlacedKey): void {
  if (caller.ancestors.some(({ holder_id }) => holder_id === holderOf(key)))
    throw new Fault("permission_denied", { reason: "parent_key" });
}

/** Throws unless the caller may change the key or get its replacement. */
export function assertMayManage(caller: Caller, key: PlacedKey): void {
  assertNotAbove(caller, key);
  if (isBound(caller) && !isBelow(caller, key)) throw new Fault("permission_denied", { reason: "not_a_descendant" });
}

/** Throws if keys that stay when their parent is revoked would leave the limits of the caller. */
export function assertMayKeepChildren(caller: Caller, key: PlacedKey): void {
  if (isBound(caller) && !isBelow(caller, key)) throw new Fault("permission_denied", { reason: "keep_children" });
}

/** Throws if a key was not made with the other one, or with a key below that. */
export function assertIsBelow(above: PlacedKey, key: PlacedKey): void {
  if (!key.holder_ids.slice(0, -1).includes(holderOf(above)))
    throw new Fault("conflict", { retryable: false, reason: "not_a_descendant", key_id: key.key_id });
}

const holderOf = ({ key_id, holder_ids }: PlacedKey) => holder_ids.at(-1) ?? key_id;

const isBelow = (caller: Caller, key: PlacedKey) =>
  key.holder_ids.slice(0, -1).includes(limitHolders(caller).at(-1)!.holder_id);

const omitUnset = (limits: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null && limit !== undefined));

const isWider = (granted: unknown, own: unknown) =>
  typeof own === "number" && (typeof granted !== "number" || granted > own);
