// Issues the signed URL of a tenant's export and records it in the audit log of the tenant.
import { insertExportEntry } from "../db/access/audit-log.ts";
import type { Database } from "../db/connect.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { Clock } from "../kit/clock.ts";
import { cursorScope, SIGNATURE_VALID_MS } from "./cursors.ts";
import { assertNotAccessToken } from "./delegation.ts";
import type { RequestContext } from "./request-context.ts";

type Dependencies = { systemDatabase: Database; publicUrl: string; clock: Pick<Clock, "now"> };

/** What the signature in the URL of an export is bound to. */
export const exportScope = (tenantId: string): string => cursorScope("tenant-export", tenantId);

export const createTenantExports = (
  { systemDatabase, publicUrl, clock }: Dependencies,
  { caller, cursors }: RequestContext,
): Pick<AccessServices["tenants"], "export"> => ({
  async export(tenantId) {
    assertNotAccessToken(caller);
    if (!(await insertExportEntry(systemDatabase, caller, tenantId))) throw new Fault("route_not_found");
    const signature = cursors.sign(exportScope(tenantId), tenantId);
    return {
      tenant_id: tenantId,
      url: `${publicUrl.replace(/\/+$/, "")}/exports/${tenantId}/${signature}`,
      expires_at: new Date(clock.now() + SIGNATURE_VALID_MS).toISOString(),
    };
  },
});
