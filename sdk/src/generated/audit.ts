// Printed by `npm run generate` from the code; never edited by hand.
import { callList, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { integer, text } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { AuditPage } from "./shapes.ts";

/** What `audit.list` takes. */
export type AuditListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** The operations `audit.*`. */
export type Audit = {
  /**
   * Every change to the tenant's keys, people and settings, newest first (owner).
   * @example await client.audit.list()
   */
  list: (input?: AuditListInput, options?: CallOptions) => ListCall<AuditPage>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const audit = auditOf(connect({ baseUrl, apiKey }))
 */
export function auditOf(connection: Connection): Audit {
  return {
    list: callList(connection, {
      name: "audit.list",
      method: "GET",
      path: "/api/v1/audit",
      fields: { limit: integer(1, 100), cursor: text(0, 1024) },
    }),
  } as unknown as Audit;
}
