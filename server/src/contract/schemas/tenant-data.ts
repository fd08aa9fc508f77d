// Schemas of the deletion and the export of a tenant.
import { z } from "zod";

export const TenantDeletion = z
  .object({
    tenant_id: z.uuid().describe("ID of the deleted tenant"),
    state: z
      .enum(["canceling_runs", "draining", "deleting", "completed"])
      .describe(
        "What the deletion does: cancel open runs, wait until no process works on them, delete, or nothing more",
      ),
    requested_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable().describe("When nothing of the tenant was left. null: not completed"),
    deleted_rows: z.record(z.string(), z.number()).describe("Number of deleted rows by table"),
    deleted_objects: z.int().describe("Number of deleted files"),
    deleted_bytes: z.int().describe("Size of the deleted files in bytes"),
    ledger: z
      .record(z.string(), z.number())
      .describe("Sums of the deleted ledger transfers by their accounts, in US dollars"),
    audit_digest: z.string().nullable().describe("SHA-256 digest of the newest entry of the deleted audit log"),
    digest: z
      .string()
      .nullable()
      .describe("SHA-256 digest of this certificate. The operator's audit log has it too. null: not completed"),
  })
  .meta({ id: "TenantDeletion" });
export type TenantDeletion = z.infer<typeof TenantDeletion>;

export const TenantExport = z
  .object({
    tenant_id: z.uuid().describe("ID of the exported tenant"),
    url: z.url().describe("Returns the export. It needs no credential, so keep it secret"),
    expires_at: z.iso.datetime().describe("Until when you can start the download"),
  })
  .meta({ id: "TenantExport" });
export type TenantExport = z.infer<typeof TenantExport>;
