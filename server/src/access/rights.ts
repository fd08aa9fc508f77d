// What one credential may give to another: never more than it has itself, and nothing to itself.
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Json } from "../kit/shapes.ts";
import { missingFrom } from "./scopes.ts";

export type Gift = { scopes: readonly string[]; limits: Json; expires_at: Date | null };

/** A token is for using the service, not for handing out its rights. */
export function refuseTokens({ token }: Caller): void {
  if (token) throw new Fault("permission_denied", { reason: "token" });
}

/** Throws where the gift reaches beyond what the caller has. */
export function checkGift(caller: Caller, gift: Gift): void {
  refuseTokens(caller);
  const required = missingFrom(caller.scopes, gift.scopes);
  if (required.length > 0) throw new Fault("insufficient_scope", { required });
  const loose = Object.entries(caller.limits).filter(([name, most]) => isWider(gift.limits[name], most));
  if (loose.length > 0) throw new Fault("permission_denied", { limits: Object.fromEntries(loose) });
  const { expires_at } = caller;
  if (expires_at && (!gift.expires_at || gift.expires_at > expires_at)) {
    throw new Fault("permission_denied", { expires_at: expires_at.toISOString() });
  }
}

/** Where the caller is limited, what it gives is too, whether that was said or not. */
export const withinLimits = (caller: Caller, limits: Json): Json => ({ ...caller.limits, ...onlySet(limits) });

const onlySet = (limits: Json): Json =>
  Object.fromEntries(Object.entries(limits).filter(([, figure]) => figure !== null && figure !== undefined));

const isWider = (given: unknown, own: unknown) => typeof own === "number" && (typeof given !== "number" || given > own);
