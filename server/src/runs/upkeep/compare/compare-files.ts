// Finds stored files that the database does not know: those of lost runs, and those of known runs without a row.

import type { Comparison } from "../../../contract/schemas/reconciliation.ts";
import { findKnownKeys, findKnownRuns } from "../../../db/admin/compare-installation.ts";
import type { ListedObject } from "../../../files/storage/object-storage.ts";
import { ASSET_KEY_PATTERN, inBatches } from "../retention.ts";
import type { ComparisonDependencies, ComparisonScope } from "./comparison-scope.ts";

/** A file is stored before its row is inserted. Younger files are not compared. */
const MIN_AGE_MS = 15_000;

type RunFile = ListedObject & { tenant_id: string; run_id: string };

export async function compareFiles(
  { database, assets, clock, log }: Pick<ComparisonDependencies, "database" | "assets" | "clock" | "log">,
  { since, findings, isOver }: ComparisonScope,
): Promise<Comparison> {
  const comparison: Comparison = { of: "files", provider: null, state: "complete", compared: 0 };
  const until = clock.now() - MIN_AGE_MS;
  try {
    for await (const batch of inBatches(assets.storage.list("t/"))) {
      if (isOver()) return { ...comparison, state: "incomplete" };
      const files = batch.flatMap(toRunFile).filter(({ modified_at, run_id }) => {
        const isRecent = modified_at >= since || timeOf(run_id) >= since.getTime();
        return isRecent && modified_at.getTime() <= until;
      });
      comparison.compared += files.length;
      for (const finding of await findUnknownFiles(database, files)) findings.add(finding);
    }
  } catch (thrown) {
    log.warn({ err: thrown, of: "files" }, "a comparison failed");
    return { ...comparison, state: "failed" };
  }
  return comparison;
}

const toRunFile = (object: ListedObject): RunFile[] => {
  const [, tenant_id, run_id] = ASSET_KEY_PATTERN.exec(object.key) ?? [];
  return tenant_id && run_id ? [{ ...object, tenant_id, run_id }] : [];
};

/** The time in a UUIDv7, in milliseconds. */
const timeOf = (id: string) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16);

async function findUnknownFiles(database: ComparisonDependencies["database"], files: RunFile[]) {
  if (files.length === 0) return [];
  const runIds = files.map(({ run_id }) => run_id);
  const knownKeys = await findKnownKeys(
    database,
    runIds,
    files.map(({ key }) => key),
  );
  const unknown = files.filter(({ key }) => !knownKeys.has(key));
  const knownRuns = await findKnownRuns(
    database,
    unknown.map(({ run_id }) => run_id),
  );
  return unknown.map(({ key, size_bytes, modified_at, tenant_id, run_id }) => {
    const run = knownRuns.get(run_id);
    return {
      ...{ run_id, tenant_id, run_status: run?.status ?? null },
      finding: run ? ("file_without_asset" as const) : ("file_without_run" as const),
      file: { storage_key: key, size_bytes, stored_at: modified_at.toISOString() },
    };
  });
}
