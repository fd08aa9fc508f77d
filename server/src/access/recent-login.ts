// Operations that create credentials, or change who has access or money, need a recent login when a session of the
// console calls them: a page that was left open, or a script in it, cannot turn a session into a lasting credential.
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults.ts";
import type { Clock } from "../kit/clock.ts";

export const RECENT_LOGIN_SECONDS = 10 * 60;

/**
 * `webhooks.update` can send results elsewhere. Revoking a key is not listed: it takes rights away, and must not wait.
 */
export const OPERATIONS_WITH_RECENT_LOGIN: readonly string[] = [
  ...["keys.create", "keys.update", "keys.rotate", "tokens.create"],
  ...["members.add", "members.update", "members.remove"],
  ...["webhooks.create", "webhooks.update", "webhooks.rotate"],
  ...["webhooks.secret.rotate", "webhooks.listeners.create"],
  ...["tenants.create", "tenants.update", "tenants.delete", "tenants.export", "tenants.credit"],
];

/** When a session has to log in again for these operations; null if it has to now, because its login is not known. */
export const recentLoginUntil = (lastLoginAt: Date | null): Date | null =>
  lastLoginAt && new Date(lastLoginAt.getTime() + RECENT_LOGIN_SECONDS * 1000);

/** Throws login_too_old if a session calls one of these operations after a login of long ago. Keys and tokens pass. */
export function assertRecentLogin(
  { session }: Pick<Caller, "session">,
  { name }: { name: string },
  clock: Pick<Clock, "now">,
): void {
  if (!session || !OPERATIONS_WITH_RECENT_LOGIN.includes(name)) return;
  const until = recentLoginUntil(session.last_login_at);
  if (until && until.getTime() > clock.now()) return;
  throw new Fault("login_too_old", {
    last_login_at: session.last_login_at?.toISOString() ?? null,
    max_age_seconds: RECENT_LOGIN_SECONDS,
    method: session.method,
  });
}
