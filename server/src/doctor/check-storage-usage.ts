// Compares the stored bytes that the storage quota counts with the files of each tenant.
import { type DatabaseUrls, directUrlOf } from "../db/connect.ts";
import { findStorageMismatches } from "../db/files/storage-check.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { DoctorCheck } from "./report.ts";

const FIX = "do not edit the tables. See `Storage quota` in the rate limits guide";

export async function checkStorageUsage(settings: DatabaseUrls): Promise<DoctorCheck> {
  const name = "storage usage";
  try {
    const mismatches = await findStorageMismatches(directUrlOf(settings));
    const [first] = mismatches;
    if (!first) return { name, status: "pass", message: "the stored bytes of every tenant are the sum of its files" };
    const message =
      `${mismatches.length} ${mismatches.length === 1 ? "tenant is" : "tenants are"} counted wrongly, such as ` +
      `${first.tenant_id}: ${first.counted.bytes} bytes instead of ${first.stored.bytes}`;
    return { name, status: "fail", message, fix: FIX };
  } catch (thrown) {
    // Before the first start there are no tables.
    return { name, status: "skip", message: `storage usage not readable: ${rootCauseMessage(thrown)}` };
  }
}
