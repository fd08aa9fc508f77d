// Operations that change access, money or the installation need a recent login when a session of the console calls
// them: a page that was left open, or a script in it, can neither turn a session into a lasting credential nor stop a
// provider.

import type { Operation } from "../../contract/operation.ts";
import type { Caller } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { isOperatorOperation } from "../scopes.ts";

export const RECENT_LOGIN_SECONDS = 10 * 60;

type GuardedOperation = Pick<Operation, "name" | "changes" | "isUrgent" | "returnsContent"> & {
  http: { method: string };
};

/** An operator's operation that writes needs a recent login even if its declaration forgot to say what it changes. */
export const needsRecentLogin = (operation: GuardedOperation): boolean =>
  (operation.changes !== undefined && !operation.isUrgent) ||
  operation.returnsContent === true ||
  (isOperatorOperation(operation) && operation.http.method !== "GET");

/** When a session has to log in again for these operations; null if it has to now, because its login is not known. */
export const recentLoginUntil = (lastLoginAt: Date | null): Date | null =>
  lastLoginAt && new Date(lastLoginAt.getTime() + RECENT_LOGIN_SECONDS * 1000);

/** Throws login_too_old if a session calls one of these operations after a login of long ago. Keys and tokens pass. */
export function assertRecentLogin(
  { session }: Pick<Caller, "session">,
  operation: GuardedOperation,
  clock: Pick<Clock, "now">,
): void {
  if (!session || !needsRecentLogin(operation)) return;
  const until = recentLoginUntil(session.last_login_at);
  if (until && until.getTime() > clock.now()) return;
  throw new Fault("login_too_old", {
    last_login_at: session.last_login_at?.toISOString() ?? null,
    max_age_seconds: RECENT_LOGIN_SECONDS,
    method: session.method,
  });
}
