// Exports the data of a tenant as JSON Lines from one snapshot: a header, one line per row with its kind, and an end
// line with the number of lines, without which an export is incomplete. What was archived follows the line of its file.
// Memory is bounded by one page of rows, or one file of the archive.

import type { JsonObject } from "../contract/schemas/run.ts";
import { listExportedRows } from "../db/access/tenant-export.ts";
import type { OpenSnapshot } from "../db/snapshot.ts";
import { Fault } from "../faults/faults.ts";
import type { AssetStore } from "../files/storage/asset-store.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import { readArchiveFile } from "../runs/upkeep/archive-file.ts";

/** Changes when lines of a known kind change in a way that readers must know. New kinds and fields are added freely. */
const EXPORT_FORMAT = 1;
/** The kind of a line, by the content of its file in the archive. */
const ARCHIVED_KINDS: Record<string, string> = { runs: "archived_run", audit: "archived_audit_entry" };

type Dependencies = Pick<Runtime, "clock"> & { assets: AssetStore; openSnapshot(): Promise<OpenSnapshot> };

/** The stream fails with the generator; a reader sees a missing end line. */
export async function* exportTenant(
  { assets, clock, openSnapshot }: Dependencies,
  tenantId: string,
): AsyncGenerator<string> {
  const { snapshot, close } = await openSnapshot();
  try {
    const exported_at = new Date(clock.now()).toISOString();
    let lines = 0;
    const render = (line: JsonObject) => {
      lines++;
      return `${JSON.stringify(line)}\n`;
    };
    for await (const { kind, data } of listExportedRows(snapshot, tenantId)) {
      if (lines === 0) yield render({ kind: "export", format: EXPORT_FORMAT, tenant_id: tenantId, exported_at });
      if (kind === "archive_file") {
        const records = await readArchiveFile(assets.storage, String(data.storage_key));
        yield render({ kind, ...data, is_missing: records === undefined });
        for (const record of records ?? []) yield render({ ...record, kind: ARCHIVED_KINDS[String(data.content)]! });
        continue;
      }
      yield render({ kind, ...data, ...(kind === "file" && { url: fileUrl(assets, data) }) });
    }
    // The first row is that of the tenant.
    if (lines === 0) throw new Fault("route_not_found");
    yield render({ kind: "end", lines: lines + 1 });
  } finally {
    await close();
  }
}

/** Null for a file whose bytes were deleted. */
const fileUrl = (assets: Dependencies["assets"], { asset_id, media_type, deleted_at }: JsonObject): string | null =>
  deleted_at === null ? assets.signUrl(String(asset_id), String(media_type)) : null;
