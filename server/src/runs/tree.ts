// The tree that a run belongs to, as a graph that is whole: both ends of every edge are among its nodes. Deleted runs are
// stones: they are shown where something that is still there hangs on them, and nowhere else.
import { findTree, type TreeRow } from "../db/tree.ts";
import type { RunEdge, RunNode, RunTree } from "../kit/shapes-library.ts";
import type { House } from "./house.ts";
import { liveStatus } from "./show.ts";

type Asked = { tenant_id: string; root_run_id: string };

export async function treeOf(
  house: Pick<House, "db" | "assetUrl">,
  { tenant_id, root_run_id }: Asked,
): Promise<RunTree> {
  const rows = await findTree(house.db, tenant_id, root_run_id);
  const shown = withoutLooseStones(rows, root_run_id);
  return {
    root_run_id,
    nodes: shown.map((row) => showNode(house, row)),
    edges: edgesOf(shown, root_run_id),
  };
}

/** A stone stays while a run that is still there descends from it or refers to it. */
function withoutLooseStones(rows: TreeRow[], rootRunId: string): TreeRow[] {
  const byId = new Map(rows.map((row) => [row.run_id, row]));
  const kept = new Set<string>();
  const keepUp = (runId: string | null) => {
    for (let id = runId; id !== null && !kept.has(id); id = byId.get(id)?.parent_run_id ?? null) kept.add(id);
  };
  for (const row of rows) {
    if (row.is_deleted || row.root_run_id !== rootRunId) continue;
    keepUp(row.run_id);
    for (const source of row.sources) {
      // The ancestors of a run in another tree are that tree's affair.
      if (byId.get(source)?.root_run_id === rootRunId) keepUp(source);
      else kept.add(source);
    }
  }
  return rows.filter((row) => kept.has(row.run_id));
}

function edgesOf(rows: TreeRow[], rootRunId: string): RunEdge[] {
  const ids = new Set(rows.map((row) => row.run_id));
  const own = rows.filter((row) => row.root_run_id === rootRunId);
  return own.flatMap((row) => {
    const edge = (to: string, kind: RunEdge["kind"]): RunEdge[] =>
      ids.has(to) ? [{ from: row.run_id, to, kind, role: roleOf(row, to) }] : [];
    return [
      ...(row.parent_run_id ? edge(row.parent_run_id, "parent") : []),
      // What a deleted run was made of went with what it held.
      ...(row.is_deleted ? [] : row.sources.flatMap((source) => edge(source, "reference"))),
    ];
  });
}

/** Callers may write ids in capitals, and a plan keeps what they wrote. */
function roleOf(row: TreeRow, runId: string): RunEdge["role"] {
  const among = (ids: string[]) => ids.some((id) => id.toLowerCase() === runId);
  if (among(row.used)) return "source";
  return among(row.masks) ? "mask" : "link";
}

function showNode(house: Pick<House, "assetUrl">, row: TreeRow): RunNode {
  const url = (kind: string) => {
    const file = row.is_deleted ? undefined : row.outputs.find(({ media_type }) => media_type.startsWith(kind));
    return file ? house.assetUrl(file.asset_id, file.media_type) : null;
  };
  return {
    run_id: row.run_id,
    run_type: row.run_type,
    status: row.status,
    live_status: liveStatus(row),
    image_url: url("image/"),
    video_url: url("video/"),
    parent_run_id: row.parent_run_id,
    model: row.model,
    created_at: row.created_at.toISOString(),
    deleted: row.is_deleted,
  };
}
