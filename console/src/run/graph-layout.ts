// Places of the runs in the graph: one column per level, the root at the left, runs of other trees in a column before
// it. A run's place depends only on older runs, so a run that arrives moves no other.
import type { RunEdge, RunNode, RunTree } from "@gesso/client";
import { type TreeRow, treeRowsOf } from "./tree-rows.ts";

export const NODE = { width: 168, height: 148, imageHeight: 104 };
const COLUMN_WIDTH = 224;
const ROW_HEIGHT = 172;
const GAP = COLUMN_WIDTH - NODE.width;

export type PlacedRow = TreeRow & { x: number; y: number };
export type GraphLayout = { rows: PlacedRow[]; byId: ReadonlyMap<string, PlacedRow> };

type Cell = { column: number; row: number };

export function layoutTree(tree: Pick<RunTree, "root_run_id" | "nodes" | "edges">): GraphLayout {
  const cells = placeRuns(tree);
  const rows = treeRowsOf(tree).map((row) => {
    const { column, row: line } = cells.get(row.node.run_id) ?? { column: 0, row: 0 };
    return { ...row, x: column * COLUMN_WIDTH, y: line * ROW_HEIGHT };
  });
  return { rows, byId: new Map(rows.map((row) => [row.node.run_id, row])) };
}

function placeRuns({ root_run_id, nodes, edges }: Pick<RunTree, "root_run_id" | "nodes" | "edges">) {
  const cells = new Map<string, Cell>();
  const nextRow = new Map<number, number>();
  const place = ({ run_id }: RunNode, column: number, lowest: number) => {
    const row = Math.max(lowest, nextRow.get(column) ?? 0);
    nextRow.set(column, row + 1);
    cells.set(run_id, { column, row });
  };
  // Oldest first: parents stand before their children.
  for (const node of nodes) {
    const parent = cells.get(node.parent_run_id ?? "");
    if (parent) place(node, parent.column + 1, parent.row);
    else if (node.run_id === root_run_id) place(node, 0, 0);
  }
  for (const node of nodes) {
    if (!cells.has(node.run_id)) place(node, -1, lowestUser(node, edges, cells));
  }
  return cells;
}

/** A referenced run stands beside the first run that uses it. */
function lowestUser({ run_id }: RunNode, edges: readonly RunEdge[], cells: ReadonlyMap<string, Cell>): number {
  const rows = edges.filter(({ to }) => to === run_id).map(({ from }) => cells.get(from)?.row ?? 0);
  return rows.length > 0 ? Math.min(...rows) : 0;
}

/** A curve from the right side of the origin to the left side of the derived run, or to its right side if not after. */
export function edgePath(origin: { x: number; y: number }, derived: { x: number; y: number }): string {
  const isAfter = derived.x > origin.x;
  const [x1, y1] = [origin.x + NODE.width, origin.y + NODE.imageHeight / 2];
  const [x2, y2] = [derived.x + (isAfter ? 0 : NODE.width), derived.y + NODE.imageHeight / 2];
  const bend = isAfter ? (x2 - x1) / 2 : GAP;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${isAfter ? x2 - bend : Math.max(x1, x2) + bend} ${y2} ${x2} ${y2}`;
}
