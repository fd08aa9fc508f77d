// The deadlines of a run: one for waiting and one for working. A run that waits fails at `deadline_at`, before anything
// is paid. A request that was submitted then gets as long again, and so does the run after each request that has
// succeeded: what is paid for has the time to end.

/** The most that a request gets. A run that an operator has released from quarantine has a late deadline. */
const MAX_WORKING_TIME = "interval '1 hour'";

/**
 * When a row of `open_runs` fails if it has not ended. Attempts that failed do not count, so a provider that is busy
 * for hours does not keep the run. Reads other tables only if the deadline for waiting has passed.
 */
export const deadlineSql = ({ run }: { run: string }) => `case when ${run}.deadline_at > now() then ${run}.deadline_at
     else greatest(${run}.deadline_at, (
       select max(case when state = 'succeeded' then finished_at else coalesce(submitted_at, created_at) end)
       from attempts
       where attempts.run_id = ${run}.run_id and state in ('intent', 'unknown', 'submitted', 'succeeded')
     ) + least(${run}.deadline_at - (select created_at from runs where runs.run_id = ${run}.run_id), ${MAX_WORKING_TIME}))
     end`;

/** Seconds until a row of `open_runs` fails; not positive if it is due. */
export const remainingSql = ({ run }: { run: string }) => `extract(epoch from ${deadlineSql({ run })} - now())::float`;
