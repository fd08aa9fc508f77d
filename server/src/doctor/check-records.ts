// Checks what the database says about itself: the ledger's invariants, the stored bytes of each tenant, the audit log,
// and webhook events that were set aside. Nothing is repaired automatically, so what is found must be reported.
import { createAuditSeal } from "../db/access/audit-seal.ts";
import { createKeyDerivation } from "../db/access/derive-keys.ts";
import { type ConnectionSettings, connectDatabase, type DatabaseUrls, directUrlOf } from "../db/connect.ts";
import { findStorageMismatches } from "../db/files/storage-check.ts";
import { findLedgerViolations } from "../db/money/ledger-check.ts";
import { countSetAsideEvents } from "../db/webhooks/set-aside-events.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { DoctorCheck } from "./report.ts";

const LEDGER_FIX = "do not edit the tables. Back up the database and see `Ledger` in the budgets guide";

export async function checkLedger(settings: DatabaseUrls): Promise<DoctorCheck> {
  const name = "ledger";
  try {
    const violations = (await findLedgerViolations(directUrlOf(settings))).filter((each) => each.violations > 0);
    if (violations.length === 0) return { name, status: "pass", message: "all ledger invariants hold" };
    const message = violations
      .map((each) => `${each.violations} ${each.violations === 1 ? "violation" : "violations"}: ${each.invariant}`)
      .join("; ");
    return { name, status: "fail", message, fix: LEDGER_FIX };
  } catch (thrown) {
    // Before the first start there is no ledger.
    return { name, status: "skip", message: `ledger not readable: ${rootCauseMessage(thrown)}` };
  }
}

const USAGE_FIX = "do not edit the tables. See `Storage quota` in the rate limits guide";

/** Compares the stored bytes that the storage quota counts with the files of each tenant. */
export async function checkStorageUsage(settings: DatabaseUrls): Promise<DoctorCheck> {
  const name = "storage usage";
  try {
    const mismatches = await findStorageMismatches(directUrlOf(settings));
    const [first] = mismatches;
    if (!first) return { name, status: "pass", message: "the stored bytes of every tenant are the sum of its files" };
    const message =
      `${mismatches.length} ${mismatches.length === 1 ? "tenant is" : "tenants are"} counted wrongly, such as ` +
      `${first.tenant_id}: ${first.counted.bytes} bytes instead of ${first.stored.bytes}`;
    return { name, status: "fail", message, fix: USAGE_FIX };
  } catch (thrown) {
    // Before the first start there are no tables.
    return { name, status: "skip", message: `storage usage not readable: ${rootCauseMessage(thrown)}` };
  }
}

const AUDIT_FIX =
  "back up the database, and compare it with the `audit head` lines of the log; see `Audit log` in the guide on tenants";
const SILENT = { info() {}, error() {} };

type AuditSettings = ConnectionSettings & {
  GESSO_SECRET: string;
  GESSO_ACCEPTED_SECRETS: string[];
};

/**
 * Checks the audit log against its checkpoints and their authenticated head. A break is never repaired automatically.
 */
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
    return { name, status: "fail", message: `${places.join("; ")}${more}`, fix: AUDIT_FIX };
  } catch (thrown) {
    // Before the first start there is no table.
    return { name, status: "skip", message: `audit log not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}

const EVENTS_FIX = "see `Events that were set aside` in the webhooks guide";

/** Reports webhook events that could not become deliveries. They wait until their cause is removed. */
export async function checkSetAsideEvents(settings: ConnectionSettings): Promise<DoctorCheck> {
  const name = "webhooks";
  const database = connectDatabase(settings);
  try {
    const { events, tenants, reason } = await countSetAsideEvents(database);
    if (events === 0) return { name, status: "pass", message: "no event is set aside" };
    const message = `${events} ${events === 1 ? "event" : "events"} of ${tenants} ${tenants === 1 ? "tenant" : "tenants"} set aside: ${reason}`;
    return { name, status: "warn", message, fix: EVENTS_FIX };
  } catch (thrown) {
    // Before the first start there is no table.
    return { name, status: "skip", message: `events not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}
