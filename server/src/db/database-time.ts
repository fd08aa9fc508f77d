// The time of PostgreSQL's clock, and how long PostgreSQL has been running: what tells an outage and a clock that was
// set.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

/** `time_ms`: PostgreSQL's clock, in milliseconds since 1970. `up_seconds`: how long PostgreSQL has been running. */
export type TimeAnswer = { time_ms: number; up_seconds: number };

export const TIME_COLUMNS = `extract(epoch from clock_timestamp())::float * 1000 as time_ms,
     extract(epoch from clock_timestamp() - pg_postmaster_start_time())::float as up_seconds`;

const READ = statement("database_time.read", `select ${TIME_COLUMNS}`).columns<TimeAnswer>();

export async function readDatabaseTime(db: Database): Promise<TimeAnswer> {
  const [row] = await db.execute(READ);
  return row!;
}
