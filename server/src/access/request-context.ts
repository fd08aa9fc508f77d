// The context of one API request: the caller and what acts on the caller's behalf. Stores that serve requests are
// created from it, so they cannot reach the data of another tenant.
import type { Caller } from "../db/access/caller.ts";
import type { Database } from "../db/connect.ts";
import type { StorageLimits } from "../db/files/storage-usage.ts";
import type { CursorSigner } from "./cursors.ts";

/** The rows that the caller may see: those of its tenant, and of its runs, with a token, only those of its end user. */
export const scopeToCaller = (
  database: Database,
  { tenant_id, token }: Pick<Caller, "tenant_id" | "token">,
): Database => database.forTenant(tenant_id, token?.end_user);

export type RequestContext = {
  caller: Caller;
  requestId: string;
  /** Scoped to the caller by row-level security (`scopeToCaller`); unscoped only for operations of the operator. */
  database: Database;
  cursors: CursorSigner;
  storageLimits: StorageLimits;
  idempotencyKey: string | undefined;
  /** Called if the request repeats an earlier one with the same idempotency key. */
  onReplay(): void;
  /** Called with the id of a run that the request created. */
  onRunAccepted(runId: string): void;
};
