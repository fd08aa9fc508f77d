// The storage quota of a tenant: the limits that the operator set for it, or the defaults of the installation.
import { z } from "zod";
import type { Caller } from "../../db/access/caller.ts";
import type { StorageLimits } from "../../db/files/storage-usage.ts";

const quota = (description: string) =>
  z.coerce.number().int().min(0).default(0).describe(`${description}; 0: no limit`);

export const StorageQuotaEnv = z.object({
  TENANT_STORAGE_BYTES: quota("Stored bytes of one tenant"),
  TENANT_STORED_FILES: quota("Stored files of one tenant"),
});

/** A limit of the tenant that is null or absent is the default of the installation. */
export function resolveStorageLimits(
  env: z.output<typeof StorageQuotaEnv>,
  { tenant: { limits } }: Pick<Caller, "tenant">,
): StorageLimits {
  const read = (name: string, fallback: number) => (typeof limits[name] === "number" ? limits[name] : fallback);
  return {
    bytes: read("storage_bytes", env.TENANT_STORAGE_BYTES) || undefined,
    files: read("stored_files", env.TENANT_STORED_FILES) || undefined,
  };
}
