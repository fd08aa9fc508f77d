// Whom a run is for, and what its cost counts for: the end user, the customer and the tags.
import type { Caller } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";

export type Attribution = { end_user: string | null; customer: string | null; cost_tags: string[] | null };

/** What a request names. */
type NamedAttribution = { end_user?: string | undefined; customer?: string | undefined; tags?: string[] | undefined };

type TokenOwner = Pick<Caller, "token">;

/**
 * The end user of an access token is fixed. Other credentials name one, or `fallback` applies. Throws if a token names
 * another one than its own.
 */
export function resolveEndUser(
  { token }: TokenOwner,
  named: string | undefined,
  fallback: string | null = null,
): string | null {
  if (!token) return named ?? fallback;
  if (named !== undefined && named !== token.end_user) throw new Fault("permission_denied", { reason: "end_user" });
  return token.end_user;
}

/** So are the customer and the tags of an access token: its holder cannot let others pay. */
export function resolveAttribution(
  caller: TokenOwner,
  { end_user, customer, tags }: NamedAttribution,
  fallback: Partial<Attribution> = {},
): Attribution {
  const { token } = caller;
  const fixed = token && { customer: token.customer ?? null, tags: token.tags ?? [] };
  if (fixed && customer !== undefined && customer !== fixed.customer)
    throw new Fault("permission_denied", { reason: "customer" });
  if (fixed && tags?.some((tag) => !fixed.tags.includes(tag))) throw new Fault("permission_denied", { reason: "tags" });
  const costTags = [...new Set(fixed?.tags ?? tags ?? fallback.cost_tags ?? [])];
  return {
    end_user: resolveEndUser(caller, end_user, fallback.end_user),
    customer: fixed ? fixed.customer : (customer ?? fallback.customer ?? null),
    cost_tags: costTags.length > 0 ? costTags : null,
  };
}
