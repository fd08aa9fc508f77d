// Compares the stored objects with the asset rows: each row has its object with the same bytes, and each object of a
// completed run has a row. A process that was killed may leave an object of another run; the sweep deletes it later.
import { STORAGE_KEY } from "../../src/db/files/asset-key.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { hashOf } from "./vendor-jobs.ts";

export async function checkStorage(
  environment: TestEnvironment,
  storage: ObjectStorage,
  completedRuns: string[],
): Promise<CheckResult[]> {
  const completed = new Set(completedRuns);
  const belongsToCompleted = (key: string) => key.split("/").some((part) => completed.has(part));
  const rows = await environment.query<{ storage_key: string; sha256: string }>(
    `select ${STORAGE_KEY} as storage_key, sha256 from assets where deleted_at is null`,
  );
  const keys: string[] = [];
  for await (const object of storage.list("t/")) keys.push(object.key);
  const [storedKeys, recordedKeys] = [new Set(keys), new Set(rows.map((row) => row.storage_key))];
  const damaged: string[] = [];
  for (const row of rows) {
    const bytes = storedKeys.has(row.storage_key) ? await storage.bytes(row.storage_key) : undefined;
    if (bytes && hashOf(bytes) !== row.sha256) damaged.push(row.storage_key);
  }
  const orphans = keys.filter((key) => !recordedKeys.has(key) && belongsToCompleted(key));
  const missing = rows.filter((row) => !storedKeys.has(row.storage_key));
  return [
    result(
      "every object of a completed run has a row",
      orphans,
      `${orphans.length} of ${keys.length} without ${JSON.stringify(orphans.slice(0, 3))}`,
    ),
    result("every row has its object", missing, `${missing.length} of ${rows.length} without`),
    result("every object matches its row", damaged, `${damaged.length} damaged`),
  ];
}

const result = (invariant: string, wrong: unknown[], observed: string): CheckResult => ({
  invariant,
  passed: wrong.length === 0,
  observed,
});
