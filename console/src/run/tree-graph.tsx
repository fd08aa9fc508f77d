// The tree as a graph. Selecting a run moves nothing; only a key that leads to a run outside the view moves the view.
import type { RunTree } from "@gesso/client";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { text } from "../text/text.ts";
import { GraphControls, GraphLegend } from "./graph-controls.tsx";
import { GraphEdges } from "./graph-edges.tsx";
import { type GraphLayout, layoutTree, NODE } from "./graph-layout.ts";
import { GraphNode } from "./graph-node.tsx";
import { pathTo } from "./tree-costs.ts";
import styles from "./tree-graph.module.css";
import { moveInTree } from "./tree-keys.ts";
import { nodeTitle } from "./tree-title.ts";
import { useViewport } from "./use-viewport.ts";
import { type Box, overlaps } from "./viewport.ts";

const NOTHING_COLLAPSED: ReadonlySet<string> = new Set();
const STEP = 1.25;

type TreeGraphProps = { tree: RunTree; selected: string; onSelect(runId: string): void; onOpen(runId: string): void };

export function TreeGraph({ tree, selected, onSelect, onOpen }: TreeGraphProps) {
  const frame = useRef<HTMLElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const layout = useMemo(() => layoutTree(tree), [tree]);
  const path = useMemo(() => new Set(pathTo(tree.nodes, selected).map(({ run_id }) => run_id)), [tree, selected]);
  const [firstRuns] = useState(() => new Set(layout.byId.keys()));
  const { percent, area, zoom, fit, reveal, onPointerDown } = useViewport(frame, layer);
  const [focused, setFocused] = useState(selected);
  const current = layout.byId.has(focused) ? focused : tree.root_run_id;
  const boxOf = (runId: string): Box => ({ ...NODE, x: 0, y: 0, ...pickPlace(layout, runId) });
  const fitAll = () => fit(boundsOf(layout));
  // Once, when the graph opens: later changes must not move the view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    reveal(boundsOf({ rows: layout.rows.filter(({ isReference }) => isReference) }));
    reveal(boxOf(selected));
  }, []);
  const select = useCallback(
    (runId: string) => {
      setFocused(runId);
      onSelect(runId);
    },
    [onSelect],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      Enter: () => onOpen(current),
      " ": () => select(current),
      "+": () => zoom(STEP),
      "-": () => zoom(1 / STEP),
    };
    const move = moveInTree(event.key, {
      rows: layout.rows,
      current,
      collapsed: NOTHING_COLLAPSED,
      titleOf: ({ node }) => nodeTitle(node),
    });
    const target = move && ("focus" in move ? move.focus : layout.byId.get(current)?.parentId);
    if (actions[event.key]) actions[event.key]?.();
    else if (target) {
      reveal(boxOf(target));
      select(target);
      layer.current?.querySelector<HTMLElement>(`[data-run="${target}"]`)?.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // The ground takes the pointer only; keys do the same at the nodes.
    <section ref={frame} className={styles.graph} aria-label={text.runPage.tree.graph} onPointerDown={onPointerDown}>
      <div
        ref={layer}
        role="tree"
        tabIndex={-1}
        aria-label={text.run.tree.label}
        className={styles.layer}
        onKeyDown={onKeyDown}
      >
        <GraphEdges edges={tree.edges} places={layout.byId} path={path} />
        {layout.rows.map((row) => (
          <GraphNode
            key={row.node.run_id}
            row={row}
            isSelected={row.node.run_id === selected}
            isFocusTarget={row.node.run_id === current}
            isInView={overlaps(area, { ...NODE, x: row.x, y: row.y })}
            isNew={!firstRuns.has(row.node.run_id)}
            onSelect={select}
            onOpen={onOpen}
          />
        ))}
      </div>
      <GraphControls percent={percent} onZoomIn={() => zoom(STEP)} onZoomOut={() => zoom(1 / STEP)} onFit={fitAll} />
      <GraphLegend />
    </section>
  );
}

const pickPlace = ({ byId }: GraphLayout, runId: string) => {
  const row = byId.get(runId);
  return row && { x: row.x, y: row.y };
};

function boundsOf({ rows }: Pick<GraphLayout, "rows">): Box {
  if (rows.length === 0) return { x: 0, y: 0, width: 1, height: 1 };
  const xs = rows.map(({ x }) => x);
  const ys = rows.map(({ y }) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x + NODE.width, height: Math.max(...ys) - y + NODE.height };
}
