// The tree of runs as a list. Arrow keys, Home, End and letters move; Enter opens a run. A deleted run keeps its place
// and its cost.
import type { RunTree } from "@gesso/client";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { text } from "../text/text.ts";
import { moveInTree } from "./tree-keys.ts";
import styles from "./tree-list.module.css";
import { TreeListRow } from "./tree-list-row.tsx";
import { treeRowsOf } from "./tree-rows.ts";
import { nodeTitle } from "./tree-title.ts";

type TreeListProps = { tree: RunTree; selected: string; onOpen(runId: string): void };

const toggle = (set: ReadonlySet<string>, id: string) => {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
};

export function TreeList({ tree, selected, onOpen }: TreeListProps) {
  const list = useRef<HTMLDivElement>(null);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState(selected);
  const rows = useMemo(() => treeRowsOf(tree, collapsed), [tree, collapsed]);
  const current = rows.some(({ node }) => node.run_id === focused) ? focused : (rows[0]?.node.run_id ?? "");
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") return onOpen(current);
    const move = moveInTree(event.key, { rows, current, collapsed, titleOf: ({ node }) => nodeTitle(node) });
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    if ("focus" in move) {
      setFocused(move.focus);
      list.current?.querySelector<HTMLElement>(`[data-run="${move.focus}"]`)?.focus();
    } else setCollapsed(toggle(collapsed, "expand" in move ? move.expand : move.collapse));
  };
  return (
    <div
      ref={list}
      role="tree"
      tabIndex={-1}
      aria-label={text.run.tree.label}
      className={styles.tree}
      onKeyDown={onKeyDown}
    >
      {rows.map((row) => (
        <TreeListRow
          key={row.node.run_id}
          row={row}
          isSelected={row.node.run_id === selected}
          isFocusTarget={row.node.run_id === current}
          isCollapsed={collapsed.has(row.node.run_id)}
          onFocus={() => setFocused(row.node.run_id)}
          onOpen={() => onOpen(row.node.run_id)}
          onToggle={() => setCollapsed(toggle(collapsed, row.node.run_id))}
        />
      ))}
    </div>
  );
}
