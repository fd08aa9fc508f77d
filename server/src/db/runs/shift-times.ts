// Shifts the times of open runs by as much as PostgreSQL's clock was set, so that a deadline, lease or claim has as
// long left as before. If the clock was set back, also what would otherwise stand still until the clock has caught up:
// leases of duties, open circuit breakers and webhooks. Every worker notices that the clock was set; only the first
// one within a minute shifts.

import type { Database } from "../connect.ts";
import { QUARANTINE_DEADLINE } from "../run-claims.ts";
import { statement } from "../statement.ts";

/** A time that was set back leaves leases of the time before, which end far in the future. */
const isShifted = (column: string) =>
  `${column} is not null and (:seconds::float > 0 or ${column} > now() - make_interval(secs => :seconds))`;
const shift = (column: string) =>
  `${column} = case when ${isShifted(column)} then ${column} + make_interval(secs => :seconds) else ${column} end`;

/** Leases and claims that one process holds are renewed within seconds. One that ends later is of the time before. */
const isLeftFromLaterTime = (column: string) => `:seconds::float < 0 and ${column} > now() + interval '2 minutes'`;
const back = (column: string) => `${column} = ${column} + make_interval(secs => :seconds)`;
const leftBack = (column: string) =>
  `${column} = case when ${isLeftFromLaterTime(column)} then ${column} + make_interval(secs => :seconds) else ${column} end`;
const breakersBack = (table: string) =>
  `update ${table} set ${back("open_until")}, ${back("probe_until")}, changed_at = now()
     where :seconds::float < 0 and changed_at > now() and exists (select from first)`;

const SHIFT = statement(
  "open_runs.shift_times",
  `with first as (
     insert into leases (name, holder, until) values ('clock', :holder, now() + interval '60 seconds')
     on conflict (name) do update set holder = excluded.holder, until = excluded.until
       where leases.until < now() or leases.until > now() + interval '60 seconds'
     returning name
   ), runs as (
     update open_runs set ${shift("deadline_at")}, ${shift("claim_expires_at")}
     where deadline_at < '${QUARANTINE_DEADLINE}' and exists (select from first)
   ), requests as (
     update open_requests set ${shift("claim_expires_at")}, ${shift("next_poll_at")} where exists (select from first)
   ), leased as (
     update attempts set ${shift("lease_until")}, ${shift("unknown_since")}
     where run_id in (select run_id from open_runs) and state in ('intent', 'unknown') and exists (select from first)
   ), duties as (
     update leases set ${back("until")}
     where name <> 'clock' and ${isLeftFromLaterTime("until")} and exists (select from first)
   ), suspects as (
     update suspect_runs set ${back("held_until")}
     where ${isLeftFromLaterTime("held_until")} and exists (select from first)
   ), breakers as (
     ${breakersBack("circuit_breakers")}
   ), destinations as (
     ${breakersBack("webhook_circuit_breakers")}
   ), deliveries as (
     update open_deliveries set ${back("due_at")}, ${leftBack("slot_until")}, ${leftBack("claim_expires_at")}
     where :seconds::float < 0 and exists (select from first)
   )
   select name from first`,
);

/** Returns whether this call was the first. `holder` identifies the caller. */
export async function shiftOpenTimes(
  db: Database,
  { seconds, holder }: { seconds: number; holder: string },
): Promise<boolean> {
  return (await db.execute(SHIFT, { seconds, holder })).length > 0;
}
