// Finds files that the database knows and the storage does not have: they were deleted in the lost period.

import type { Comparison } from "../../../contract/schemas/reconciliation.ts";
import { listAssetsSince } from "../../../db/admin/compare-installation.ts";
import { FIRST_ID } from "../../../db/delete-batches.ts";
import { listReferencedKeys } from "../../../db/files/retention.ts";
import type { ComparisonDependencies, ComparisonScope } from "./comparison-scope.ts";

const PIECE_ROWS = 500;
/** Requests to the storage at a time. */
const CONCURRENCY = 16;

type AssetToFind = Awaited<ReturnType<typeof listAssetsSince>>[number];

export async function compareAssets(
  { database, assets, log }: Pick<ComparisonDependencies, "database" | "assets" | "log">,
  { openSince: since, findings, isOver }: ComparisonScope,
): Promise<Comparison> {
  const comparison: Comparison = { of: "assets", provider: null, state: "complete", compared: 0 };
  try {
    for (let after = FIRST_ID; ; ) {
      if (isOver()) return { ...comparison, state: "incomplete" };
      const rows = await listAssetsSince(database, { since, after, limit: PIECE_ROWS });
      const missing = await findMissing(assets.storage, rows);
      // A file that was deleted since its row was read is not missing.
      const referenced = await listReferencedKeys(
        database,
        missing.map(({ run_id }) => run_id),
        missing.map(({ storage_key }) => storage_key),
      );
      for (const { run_id, tenant_id, status, storage_key, size_bytes } of missing.filter((each) =>
        referenced.has(each.storage_key),
      ))
        findings.add({
          ...{ run_id, tenant_id, run_status: status, finding: "asset_without_file" },
          file: { storage_key, size_bytes, stored_at: null },
        });
      comparison.compared += rows.length;
      if (rows.length < PIECE_ROWS) return comparison;
      after = rows.at(-1)!.asset_id;
    }
  } catch (thrown) {
    log.warn({ err: thrown, of: "assets" }, "a comparison failed");
    return { ...comparison, state: "failed" };
  }
}

async function findMissing(
  storage: ComparisonDependencies["assets"]["storage"],
  rows: AssetToFind[],
): Promise<AssetToFind[]> {
  const missing: AssetToFind[] = [];
  const remaining = [...rows];
  const work = async () => {
    for (let row = remaining.pop(); row; row = remaining.pop())
      if (!(await storage.head(row.storage_key))) missing.push(row);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return missing;
}
