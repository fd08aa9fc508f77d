// Shifts the times of open runs by as much as PostgreSQL's clock was set, so that a deadline, lease or claim has as
// long left as before. Every worker notices that the clock was set; only the first one within a minute shifts.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { QUARANTINE_DEADLINE } from "./open-runs.ts";

/** A time that was set back leaves leases of the time before, which end far in the future. */
const isShifted = (column: string) =>
  `${column} is not null and (:seconds::float > 0 or ${column} > now() - make_interval(secs => :seconds))`;
const shift = (column: string) =>
  `${column} = case when ${isShifted(column)} then ${column} + make_interval(secs => :seconds) else ${column} end`;

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
