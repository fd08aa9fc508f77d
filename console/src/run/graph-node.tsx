// A run in the graph. Rendered anew only if the run itself, its selection or its focus changes.
import { Link2, Trash2 } from "lucide-react";
import { memo } from "react";
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import type { PlacedRow } from "./graph-layout.ts";
import styles from "./tree-graph.module.css";
import { imageOfNode, nodeSubtitle, nodeTitle } from "./tree-title.ts";

type GraphNodeProps = {
  row: PlacedRow;
  isSelected: boolean;
  isFocusTarget: boolean;
  /** A run outside the view is an empty box with its name. */
  isInView: boolean;
  /** The run arrived while the graph was open; it fades in. */
  isNew: boolean;
  onSelect(runId: string): void;
  onOpen(runId: string): void;
};

export const GraphNode = memo(function GraphNode({
  row,
  isSelected,
  isFocusTarget,
  isInView,
  isNew,
  ...on
}: GraphNodeProps) {
  const { node, level, position, setSize, x, y, childCount } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles keys
    <div
      role="treeitem"
      data-run={node.run_id}
      ref={cssVariables({ "--x": `${x}px`, "--y": `${y}px` })}
      className={classNames(
        styles.node,
        isNew && styles.arriving,
        isSelected && styles.selected,
        node.deleted && styles.ghost,
      )}
      tabIndex={isFocusTarget ? 0 : -1}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={setSize}
      aria-selected={isSelected}
      {...(childCount > 0 && { "aria-expanded": true })}
      {...(!isInView && { "aria-label": `${nodeTitle(node)} ${subtitleOf(row)}` })}
      onClick={() => on.onSelect(node.run_id)}
      onDoubleClick={() => on.onOpen(node.run_id)}
    >
      {isInView && <NodeContent row={row} />}
    </div>
  );
});

function NodeContent({ row }: { row: PlacedRow }) {
  const { node, isReference } = row;
  const isOpen = node.status === "queued" || node.status === "processing";
  return (
    <>
      <span className={styles.image}>
        <NodeImage row={row} />
        {isReference && (
          <span className={styles.badge}>
            <Icon of={Link2} size="s" />
          </span>
        )}
        {isOpen && (
          <span className={styles.progress}>
            <ProgressLine value={0} label={text.run.states.processing} />
          </span>
        )}
      </span>
      <span className={styles.caption}>
        <b className="clip">{nodeTitle(node)}</b>
        <span className={styles.money}>{node.cost && formatMoney(node.cost.amount)}</span>
        <span className={classNames("clip", styles.prompt)}>
          {node.status === "completed" || node.deleted ? subtitleOf(row) : <RunState status={node.status} />}
        </span>
      </span>
    </>
  );
}

const subtitleOf = ({ node, isReference }: PlacedRow) =>
  isReference ? text.runPage.tree.reference : nodeSubtitle(node);

function NodeImage({ row: { node } }: { row: PlacedRow }) {
  const image = imageOfNode(node);
  if (node.deleted) return <Icon of={Trash2} size="l" />;
  return image ? <img src={image} alt="" loading="lazy" decoding="async" draggable={false} /> : null;
}
