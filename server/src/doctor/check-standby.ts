// Checks whether a failover of PostgreSQL would be safe: only a synchronous standby has every accepted run and every
// lease of a paid request.
import { type ConnectionSettings, connectDatabase } from "../db/connect.ts";
import { type ReplicationStatus, readReplicationStatus } from "../db/replication.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { CheckStatus, DoctorCheck } from "./report.ts";

const FIX = "see `Failover` in the PostgreSQL guide";
const RISK = "after a failover, accepted runs can be missing and jobs can be paid twice";

export async function checkStandby(settings: ConnectionSettings): Promise<DoctorCheck> {
  const name = "standby";
  // Before the first start, the database roles do not exist yet.
  const database = connectDatabase(settings, null);
  try {
    const [status, message] = assessReplication(await readReplicationStatus(database));
    return { name, status, message, ...(status === "warn" && { fix: FIX }) };
  } catch (thrown) {
    return { name, status: "skip", message: `replication not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}

export function assessReplication(replication: ReplicationStatus): [CheckStatus, message: string] {
  const { is_configured, synchronous_commit, is_visible, standbys, synchronous_standbys } = replication;
  if (!is_configured) {
    return standbys === 0
      ? ["skip", "no standby. Double-payment safety across a failover needs a synchronous one"]
      : ["warn", `${standbys} connected, none synchronous: ${RISK}`];
  }
  if (["off", "local"].includes(synchronous_commit))
    return ["warn", `synchronous_commit is ${synchronous_commit}, so commits do not wait for the standby: ${RISK}`];
  if (!is_visible) return ["pass", "synchronous_standby_names is set; grant pg_read_all_stats to see its state"];
  if (synchronous_standbys === 0) return ["warn", "no synchronous standby is connected: writes wait for one"];
  return ["pass", `${synchronous_standbys} synchronous: a failover loses no accepted run and no lease`];
}
