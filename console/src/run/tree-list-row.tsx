// One run of the tree as a row.
import { ChevronDown, ChevronRight, Link2 } from "lucide-react";
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./tree-list.module.css";
import type { TreeRow } from "./tree-rows.ts";
import { imageOfNode, nodeSubtitle, nodeTitle } from "./tree-title.ts";

/** Deeper rows are not indented further, so that their words stay readable. */
const MAX_INDENT = 8;

type TreeListRowProps = {
  row: TreeRow;
  isSelected: boolean;
  isFocusTarget: boolean;
  isCollapsed: boolean;
  onFocus(): void;
  onOpen(): void;
  onToggle(): void;
};

export function TreeListRow({ row, isSelected, isFocusTarget, isCollapsed, ...on }: TreeListRowProps) {
  const { node, level, position, setSize, childCount, isReference } = row;
  const image = imageOfNode(node);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles keys
    <div
      role="treeitem"
      data-run={node.run_id}
      ref={cssVariables({ "--indent": String(Math.min(level - 1, MAX_INDENT)) })}
      className={classNames(styles.row, isSelected && styles.selected)}
      tabIndex={isFocusTarget ? 0 : -1}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={setSize}
      aria-selected={isSelected}
      {...(childCount > 0 && { "aria-expanded": !isCollapsed })}
      onFocus={on.onFocus}
      onClick={on.onOpen}
    >
      {childCount > 0 ? (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the tree do the same
        // biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the pointer only
        <span
          className={styles.chevron}
          onClick={(event) => {
            event.stopPropagation();
            on.onToggle();
          }}
        >
          <Icon of={isCollapsed ? ChevronRight : ChevronDown} size="s" />
        </span>
      ) : (
        <span className={styles.chevron}>{isReference && <Icon of={Link2} size="s" />}</span>
      )}
      {image ? <img src={image} alt="" width={42} height={30} loading="lazy" /> : <span className={styles.none} />}
      <span className={styles.words}>
        <span className="clip">{nodeTitle(node)}</span>
        <small className="clip">{isReference ? text.runPage.tree.reference : nodeSubtitle(node)}</small>
      </span>
      <span className={styles.end}>
        {node.status === "completed" || node.deleted ? null : <RunState status={node.status} />}
        {node.cost && <span className="numeric">{formatMoney(node.cost.amount)}</span>}
      </span>
    </div>
  );
}
