// Leases of work that only one process may do at a time. The holder renews its lease; a process that died loses the
// lease by the clock of the database.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

const ACQUIRE = statement(
  "leases.acquire",
  `insert into leases (name, holder, until)
   select name, :holder, now() + make_interval(secs => :seconds) from unnest(:names::text[]) as unnest (name)
   where not exists (select from pauses where kind = 'duty' and pauses.name = unnest.name) order by name
   on conflict (name) do update set holder = excluded.holder, until = excluded.until
     where leases.holder = excluded.holder or leases.until < now()
   returning name`,
);

/** Acquires or renews these leases for `holder`, unless paused; returns the names of those it now holds. */
export async function acquireLeases(db: Database, holder: string, names: string[], seconds: number): Promise<string[]> {
  const rows = await db.execute(ACQUIRE, { holder, names, seconds });
  return rows.map((row) => row.name);
}

const COUNT_HOLDERS = statement(
  "leases.count_holders",
  "select count(distinct holder)::int as count from leases where name like :prefix || '%' and until > now()",
).columns<{ count: number }>();

/** The number of processes that hold a lease with this prefix. */
export async function countLeaseHolders(db: Database, prefix: string): Promise<number> {
  const [row] = await db.execute(COUNT_HOLDERS, { prefix });
  return row?.count ?? 0;
}

const LIST_NAMES = statement(
  "leases.list_names",
  "select name from leases where name like :prefix || '%' and until > now() order by name",
);

/** The names of the leases with this prefix that are held now. */
export async function listLeaseNames(db: Database, prefix: string): Promise<string[]> {
  const rows = await db.execute(LIST_NAMES, { prefix });
  return rows.map((row) => row.name);
}

const RELEASE = statement("leases.release", "delete from leases where holder = :holder");

export async function releaseLeases(db: Database, holder: string): Promise<void> {
  await db.execute(RELEASE, { holder });
}
