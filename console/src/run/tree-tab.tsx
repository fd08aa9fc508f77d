// The tree of a run as a list for keyboard and screen readers, with the cost of every run and of all together.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Tree } from "react-aria-components";
import { runTreeQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { treeRowsOf } from "./lineage-of.ts";
import { TreeRowItem } from "./tree-row-item.tsx";
import styles from "./tree-tab.module.css";

export function TreeTab({ run }: { run: Run }) {
  const { data: tree, error, refetch } = useQuery(runTreeQuery(run.run_id));
  const navigate = useNavigate();
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!tree) return null;
  return (
    <>
      <Tree
        className={styles.tree ?? ""}
        aria-label={text.run.tree.label}
        selectionMode="single"
        selectedKeys={[run.run_id]}
        defaultExpandedKeys={tree.nodes.map(({ run_id }) => run_id)}
        onAction={(key) =>
          void navigate({ to: "/runs/$runId", params: { runId: String(key) }, search: { tab: "tree" } })
        }
      >
        {treeRowsOf(tree.nodes).map((row) => (
          <TreeRowItem key={row.node.run_id} row={row} />
        ))}
      </Tree>
      <p className={styles.total}>
        {text.run.tree.total(tree.totals.runs)} <b>{formatMoney(tree.totals.amount)}</b>
      </p>
    </>
  );
}
