// For which end user a run is: the visitor of an app whose access tokens see the run.
import type { Caller } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";

/**
 * The end user of an access token is fixed. Other credentials name one, or `fallback` applies. Throws if a token names
 * another one than its own.
 */
export function resolveEndUser(
  { token }: Pick<Caller, "token">,
  named: string | undefined,
  fallback: string | null = null,
): string | null {
  if (!token) return named ?? fallback;
  if (named !== undefined && named !== token.end_user) throw new Fault("permission_denied", { reason: "end_user" });
  return token.end_user;
}
