// Where a key leads in a tree, by the rules of the ARIA tree: arrows, Home, End and the first letter of a title.
import type { TreeRow } from "./tree-rows.ts";

export type TreeMove = { focus: string } | { expand: string } | { collapse: string };

type TreePlace = {
  rows: readonly TreeRow[];
  current: string;
  collapsed: ReadonlySet<string>;
  /** The words that a letter searches. */
  titleOf(row: TreeRow): string;
};

export function moveInTree(key: string, { rows, current, collapsed, titleOf }: TreePlace): TreeMove | undefined {
  const index = rows.findIndex(({ node }) => node.run_id === current);
  const row = rows[index];
  const focus = (target: TreeRow | undefined) => (target ? { focus: target.node.run_id } : undefined);
  if (!row) return focus(rows[0]);
  const isCollapsed = collapsed.has(current);
  switch (key) {
    case "ArrowDown":
      return focus(rows[index + 1]);
    case "ArrowUp":
      return focus(rows[index - 1]);
    case "Home":
      return focus(rows[0]);
    case "End":
      return focus(rows.at(-1));
    case "ArrowRight":
      if (row.childCount === 0) return undefined;
      return isCollapsed ? { expand: current } : focus(rows[index + 1]);
    case "ArrowLeft":
      return row.childCount > 0 && !isCollapsed ? { collapse: current } : focusParent(rows, row);
  }
  if (key.length !== 1 || key === " ") return undefined;
  const following = [...rows.slice(index + 1), ...rows.slice(0, index + 1)];
  return focus(following.find((each) => titleOf(each).toLowerCase().startsWith(key.toLowerCase())));
}

const focusParent = (rows: readonly TreeRow[], { parentId }: TreeRow): TreeMove | undefined =>
  rows.some(({ node }) => node.run_id === parentId) ? { focus: parentId ?? "" } : undefined;
