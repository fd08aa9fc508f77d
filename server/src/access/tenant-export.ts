// Issues the signed URL of a tenant's export and records it, with the reason, in the audit logs of the tenant and of
// the operator.
import { findTenant } from "../db/access/tenants.ts";
import { insertDisclosure } from "../db/admin/disclosures.ts";
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
  async export(tenantId, reason) {
    assertNotAccessToken(caller);
    const tenant = await findTenant(systemDatabase, tenantId);
    if (!tenant) throw new Fault("route_not_found");
    const entry = { action: "tenants.export", subject: tenant.tenant_id, reason, tenantIds: [tenant.tenant_id] };
    await insertDisclosure(systemDatabase, caller, entry);
    const signature = cursors.sign(exportScope(tenantId), tenantId);
    return {
      tenant_id: tenantId,
      url: `${publicUrl.replace(/\/+$/, "")}/exports/${tenantId}/${signature}`,
      expires_at: new Date(clock.now() + SIGNATURE_VALID_MS).toISOString(),
    };
  },
});
