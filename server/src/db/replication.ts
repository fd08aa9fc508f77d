// What the primary knows of its standbys. An account without the role `pg_read_all_stats` only sees how many there are.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

const READ = statement(
  "replication.read",
  `select current_setting('synchronous_standby_names') <> '' as is_configured,
     current_setting('synchronous_commit') as synchronous_commit,
     pg_has_role(current_user, 'pg_read_all_stats', 'usage') as is_visible,
     (select count(*)::int from pg_stat_replication) as standbys,
     (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as synchronous_standbys`,
).columns<ReplicationStatus>();

export type ReplicationStatus = {
  /** `synchronous_standby_names` is set. */
  is_configured: boolean;
  synchronous_commit: string;
  /** Whether the state of standbys is visible to this account. */
  is_visible: boolean;
  standbys: number;
  synchronous_standbys: number;
};

export async function readReplicationStatus(db: Database): Promise<ReplicationStatus> {
  const [row] = await db.execute(READ);
  return row!;
}
