// The tree of a run as a complete graph: both ends of every edge are among its nodes. Deleted runs are tombstones; they
// are shown only while a run that still exists descends from them or references them.

import type { RunEdge, RunNode, RunTree } from "../contract/schemas/library.ts";
import type { Database } from "../db/connect.ts";
import { findRunTree, type RunTreeRow } from "../db/runs/run-tree.ts";
import { liveStatus, type RenderDependencies, renderThumbnails } from "../runs/show/render-run.ts";

const MICRODOLLARS = 1e6;

type RunTreeRef = { tenant_id: string; root_run_id: string };

export async function buildRunTree(
  services: RenderDependencies & { database: Database },
  { tenant_id, root_run_id }: RunTreeRef,
): Promise<RunTree> {
  const rows = await findRunTree(services.database, tenant_id, root_run_id);
  const shown = omitDetachedTombstones(rows, root_run_id);
  return {
    root_run_id,
    nodes: shown.map((row) => renderTreeNode(services, row)),
    edges: buildTreeEdges(shown, root_run_id),
    totals: sumTree(rows.filter((row) => row.root_run_id === root_run_id)),
  };
}

/** In whole micro-dollars, so that the sum is exact. */
function sumTree(rows: RunTreeRow[]): RunTree["totals"] {
  const amounts = rows.map(({ cost }) => Math.round((cost?.amount ?? 0) * MICRODOLLARS));
  return {
    runs: rows.length,
    failed: rows.filter(({ status }) => status === "failed").length,
    amount: amounts.reduce((sum, amount) => sum + amount, 0) / MICRODOLLARS,
    unpriced: rows.filter(({ status, cost }) => status === "completed" && cost === null).length,
  };
}

/** A tombstone stays while an existing run descends from it or references it. */
function omitDetachedTombstones(rows: RunTreeRow[], rootRunId: string): RunTreeRow[] {
  const byId = new Map(rows.map((row) => [row.run_id, row]));
  const visible = new Set<string>();
  const addWithAncestors = (runId: string | null) => {
    for (let id = runId; id !== null && !visible.has(id); id = byId.get(id)?.parent_run_id ?? null) visible.add(id);
  };
  for (const row of rows) {
    if (row.is_deleted || row.root_run_id !== rootRunId) continue;
    addWithAncestors(row.run_id);
    for (const source of row.referenced_run_ids) {
      // Ancestors of a run in another tree are not part of this tree.
      if (byId.get(source)?.root_run_id === rootRunId) addWithAncestors(source);
      else visible.add(source);
    }
  }
  return rows.filter((row) => visible.has(row.run_id));
}

function buildTreeEdges(rows: RunTreeRow[], rootRunId: string): RunEdge[] {
  const ids = new Set(rows.map((row) => row.run_id));
  const own = rows.filter((row) => row.root_run_id === rootRunId);
  return own.flatMap((row) => {
    const edge = (to: string, kind: RunEdge["kind"]): RunEdge[] =>
      ids.has(to) ? [{ from: row.run_id, to, kind, role: edgeRole(row, to) }] : [];
    return [
      ...(row.parent_run_id ? edge(row.parent_run_id, "parent") : []),
      // References of a deleted run were removed with its inputs.
      ...(row.is_deleted ? [] : row.referenced_run_ids.flatMap((source) => edge(source, "reference"))),
    ];
  });
}

/** Ids in a plan are stored as the caller wrote them, possibly in upper case. */
function edgeRole(row: RunTreeRow, runId: string): RunEdge["role"] {
  const includesRun = (ids: string[]) => ids.some((id) => id.toLowerCase() === runId);
  if (includesRun(row.image_run_ids)) return "source";
  return includesRun(row.mask_run_ids) ? "mask" : "link";
}

function renderTreeNode(services: RenderDependencies, row: RunTreeRow): RunNode {
  const outputs = row.is_deleted ? [] : row.outputs;
  const url = (kind: string) => {
    const file = outputs.find(({ media_type }) => media_type.startsWith(kind));
    return file ? services.assets.signUrl(file.asset_id, file.media_type) : null;
  };
  return {
    run_id: row.run_id,
    run_type: row.run_type,
    status: row.status,
    live_status: liveStatus(row),
    image_url: url("image/"),
    video_url: url("video/"),
    thumbnails: renderThumbnails(services, outputs[0]?.thumbnails),
    thumbhash: outputs[0]?.thumbhash ?? null,
    parent_run_id: row.parent_run_id,
    model: row.model,
    provider: row.provider,
    prompt: row.is_deleted ? null : row.prompt,
    cost: row.cost,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    deleted: row.is_deleted,
  };
}
