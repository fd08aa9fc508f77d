// Who does what only one process may do at a time. A lease is held by renewing it; whoever dies loses it by the clock of
// the database, never by its own.
import type { Database } from "./connect.ts";

/** Takes or renews these names for `holder`; answers those it now holds. */
export async function acquireLeases(db: Database, holder: string, names: string[], seconds: number): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    "leases.hold",
    `insert into leases (name, holder, until)
     select name, $1, now() + make_interval(secs => $3) from unnest($2::text[]) as name order by name
     on conflict (name) do update set holder = $1, until = excluded.until
       where leases.holder = $1 or leases.until < now()
     returning name`,
    [holder, names, seconds],
  );
  return rows.map((row) => row.name);
}

/** Holders that are alive, to share the work between them. */
export async function countLeaseHolders(db: Database, prefix: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    "leases.count",
    "select count(distinct holder)::int as count from leases where name like $1 || '%' and until > now()",
    [prefix],
  );
  return row?.count ?? 0;
}

export async function releaseLeases(db: Database, holder: string): Promise<void> {
  await db.query("leases.drop", "delete from leases where holder = $1", [holder]);
}
