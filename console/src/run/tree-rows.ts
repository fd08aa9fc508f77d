// The runs of a tree in reading order, with level and place among their siblings, as the roles of a tree demand.
import type { RunNode, RunTree } from "@gesso/client";

export type TreeRow = {
  node: RunNode;
  /** From 1. */
  level: number;
  /** From 1, among the runs with the same parent. */
  position: number;
  setSize: number;
  childCount: number;
  parentId: string | null;
  /** A run of another tree whose image was used. */
  isReference: boolean;
};

/** Depth first. Runs of other trees follow as rows of the first level. */
export function treeRowsOf(tree: Pick<RunTree, "root_run_id" | "nodes">, collapsed: ReadonlySet<string> = new Set()) {
  const ids = new Set(tree.nodes.map(({ run_id }) => run_id));
  const roots: RunNode[] = [];
  const children = new Map<string, RunNode[]>();
  for (const node of tree.nodes) {
    if (node.parent_run_id !== null && ids.has(node.parent_run_id)) {
      const siblings = children.get(node.parent_run_id);
      if (siblings) siblings.push(node);
      else children.set(node.parent_run_id, [node]);
    } else roots.push(node);
  }
  const rows: TreeRow[] = [];
  // A stack of its own, because a tree can be deeper than the call stack.
  const stack = rowsOf(roots, { level: 1, parentId: null }).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    const below = children.get(row.node.run_id) ?? [];
    const isReference = row.level === 1 && row.node.run_id !== tree.root_run_id;
    rows.push({ ...row, childCount: below.length, isReference });
    if (collapsed.has(row.node.run_id)) continue;
    stack.push(...rowsOf(below, { level: row.level + 1, parentId: row.node.run_id }).reverse());
  }
  return rows;
}

const rowsOf = (nodes: readonly RunNode[], above: { level: number; parentId: string | null }): TreeRow[] =>
  nodes.map((node, index) => ({
    node,
    ...above,
    position: index + 1,
    setSize: nodes.length,
    childCount: 0,
    isReference: false,
  }));
