// Checks the audit log against its checkpoints and their authenticated head. A break is never repaired automatically.
import { createAuditSeal } from "../db/access/audit-seal.ts";
import { createKeyDerivation } from "../db/access/derive-keys.ts";
import { type ConnectionSettings, connectDatabase } from "../db/connect.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { DoctorCheck } from "./report.ts";

const FIX =
  "back up the database, and compare it with the `audit head` lines of the log; see `Audit log` in the guide on tenants";
const SILENT = { info() {}, error() {} };

type AuditSettings = ConnectionSettings & {
  GESSO_SECRET: string;
  GESSO_ACCEPTED_SECRETS: string[];
};

export async function checkAuditLog(settings: AuditSettings, now: () => number): Promise<DoctorCheck> {
  const name = "audit log";
  const database = connectDatabase(settings);
  try {
    const keys = createKeyDerivation(settings)("audit");
    const breaks = await createAuditSeal({ database, keys, clock: { now }, log: SILENT }).check();
    if (breaks.length === 0) return { name, status: "pass", message: "all entries match their checkpoints" };
    const places = breaks.slice(0, 5).map(({ reason, tenant_id, entry }) => {
      const place = tenant_id === undefined ? "" : ` (tenant ${tenant_id}, entry ${entry})`;
      return `${reason.replaceAll("_", " ")}${place}`;
    });
    const more = breaks.length > places.length ? `, and ${breaks.length - places.length} more` : "";
    return { name, status: "fail", message: `${places.join("; ")}${more}`, fix: FIX };
  } catch (thrown) {
    // Before the first start there is no table.
    return { name, status: "skip", message: `audit log not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}
