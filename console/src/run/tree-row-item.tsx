// One run of the tree and those derived from it. A deleted run keeps its place and its cost.
import { ChevronRight } from "lucide-react";
import { Button, TreeItem, TreeItemContent } from "react-aria-components";
import { formatMoney } from "../format/money.ts";
import { Icon } from "../parts/icon.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import type { TreeRow } from "./lineage-of.ts";
import styles from "./tree-tab.module.css";

export function TreeRowItem({ row: { node, children } }: { row: TreeRow }) {
  const title = node.deleted ? text.run.tree.deleted : (node.prompt ?? node.run_type);
  return (
    <TreeItem id={node.run_id} textValue={title} className={styles.item ?? ""}>
      <TreeItemContent>
        <span className={styles.row}>
          {children.length > 0 ? (
            <Button slot="chevron" className={styles.chevron ?? ""}>
              <Icon of={ChevronRight} size="s" />
            </Button>
          ) : (
            <span className={styles.chevron} />
          )}
          {node.image_url ? (
            <img src={node.image_url} alt="" width={42} height={30} />
          ) : (
            <span className={styles.none} />
          )}
          <span className={styles.words}>
            <span className="clip">{title}</span>
            <small>{node.status === "completed" ? node.model : <RunState status={node.status} />}</small>
          </span>
          <span className="numeric">{node.cost ? formatMoney(node.cost.amount) : ""}</span>
        </span>
      </TreeItemContent>
      {children.map((child) => (
        <TreeRowItem key={child.node.run_id} row={child} />
      ))}
    </TreeItem>
  );
}
