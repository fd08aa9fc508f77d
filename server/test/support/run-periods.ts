// The periods of a run as the index stores them: the SQL expression of `index_runs`, for tests that compare with it.

/** `tenant` and `run` are SQL expressions. */
export const runPeriods = (tenant: string, run: string): string =>
  `array(select period_hash(${tenant}, shift, uuid_ms(${run}) >> shift) from unnest(run_period_shifts()) as shift)`;
