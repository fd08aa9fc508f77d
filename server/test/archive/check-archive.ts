// The oracle of the drill: compares what was seeded with the files of the archive and the rows that are left.
import type { Database } from "../../src/db/connect.ts";
import { findRunTree } from "../../src/db/runs/run-tree.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import { readArchiveFile } from "../../src/runs/upkeep/archive-file.ts";
import type { PastRun } from "../support/past-runs.ts";

export type ArchiveFigures = { files: number; bytes: number; lines: number; lost: number; duplicates: number };

/** `lost`: runs that are neither a row with its content nor a line. `duplicates`: runs that are more than once. */
export async function countArchive(
  storage: ObjectStorage,
  owner: Database,
  runs: PastRun[],
): Promise<ArchiveFigures & { archivedAmount: number }> {
  const seen = new Map<string, number>();
  const see = (id: string) => seen.set(id, (seen.get(id) ?? 0) + 1);
  let [files, bytes, lines, archivedAmount] = [0, 0, 0, 0];
  for await (const { key, size_bytes } of storage.list("t/")) {
    const records = await readArchiveFile(storage, key);
    for (const record of records ?? []) {
      see(String(record.run_id));
      for (const { amount } of record.transfers as { amount: number }[]) archivedAmount += amount;
    }
    [files, bytes, lines] = [files + 1, bytes + size_bytes, lines + (records?.length ?? 0)];
  }
  const rows = await owner.query<{ run_id: string }>("check.rows", "select run_id from runs where deleted_at is null");
  for (const { run_id } of rows) see(run_id);
  const lost = runs.filter(({ run_id }) => !seen.has(run_id)).length;
  const duplicates = [...seen.values()].filter((count) => count > 1).length;
  return { files, bytes, lines, lost, duplicates, archivedAmount };
}

/** Trees with a run that is not archived, and how many of them lack a run or an ancestor of it. */
export async function countBrokenTrees(
  database: Database,
  owner: Database,
): Promise<{ trees: number; tombstones: number; broken: number }> {
  const live = await owner.query<{ run_id: string; root_run_id: string; tenant_id: string }>(
    "check.live",
    "select run_id, root_run_id, tenant_id from runs where deleted_at is null and run_id <> root_run_id",
  );
  const trees = Map.groupBy(live, (each) => each.root_run_id);
  let [tombstones, broken] = [0, 0];
  for (const [root, members] of trees) {
    const byId = new Map(
      (await findRunTree(database, members[0]!.tenant_id, root)).map((row) => [row.run_id, row] as const),
    );
    tombstones += [...byId.values()].filter(({ is_deleted }) => is_deleted).length;
    const isWhole = (id: string | null): boolean =>
      id === null || (byId.has(id) && isWhole(byId.get(id)!.parent_run_id));
    if (!members.every(({ run_id }) => isWhole(run_id))) broken++;
  }
  return { trees: trees.size, tombstones, broken };
}

const TABLES = ["runs", "archived_runs", "attempts", "planned_requests", "transfers", "assets", "run_index"];

export async function countRows(owner: Database): Promise<Record<string, number>> {
  const counts = TABLES.map((table) => `(select count(*) from ${table})::int as ${table}`);
  const [row] = await owner.query<Record<string, number>>("check.counts", `select ${counts.join(", ")}`);
  return row!;
}

export async function sumArchivedTransfers(owner: Database): Promise<number> {
  const text = "select coalesce(sum(amount), 0)::bigint as amount from archived_transfers";
  return (await owner.query<{ amount: number }>("check.carried", text))[0]!.amount;
}
