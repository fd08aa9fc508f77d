// The deletion of a tenant as the API shows it. The work is a background duty.

import type { TenantDeletion } from "../contract/schemas/tenant-data.ts";
import type { TenantDeletionRow } from "../db/access/tenant-deletions.ts";

const MICRO_DOLLARS = 1_000_000;

export const renderTenantDeletion = ({
  deleted_tenant_id,
  audit_digest,
  digest,
  ...row
}: TenantDeletionRow): TenantDeletion => ({
  tenant_id: deleted_tenant_id,
  state: row.state,
  requested_at: row.requested_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
  deleted_rows: row.deleted_rows as Record<string, number>,
  deleted_objects: row.deleted_objects,
  deleted_bytes: row.deleted_bytes,
  ledger: Object.fromEntries(
    Object.entries(row.ledger).map(([accounts, amount]) => [accounts, Number(amount) / MICRO_DOLLARS]),
  ),
  audit_digest: audit_digest?.toString("hex") ?? null,
  digest: digest?.toString("hex") ?? null,
});
