// The selected run of a tree: its image, its facts, and what it, its path, its branch and the whole tree cost.
import type { RunNode, RunTree } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { ImageOff } from "lucide-react";
import { formatMoney } from "../format/money.ts";
import { formatDateTime } from "../format/time.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import { branchSum, pathSum } from "./tree-costs.ts";
import styles from "./tree-page.module.css";
import { nodeTitle } from "./tree-title.ts";

const words = text.runPage.tree;

type TreePanelProps = { tree: RunTree; runId: string; onOpen(runId: string): void };

export function TreePanel({ tree, runId, onOpen }: TreePanelProps) {
  const node = tree.nodes.find(({ run_id }) => run_id === runId);
  if (!node) return null;
  return (
    <aside className={styles.panel}>
      <div className={styles.scroll}>
        <NodeMedia node={node} />
        <NodeFacts node={node} />
        <TreeCosts tree={tree} node={node} />
        {tree.totals.failed > 0 && <p className={styles.note}>{words.failed(tree.totals.failed)}</p>}
        {tree.totals.unpriced > 0 && <p className={styles.note}>{words.unpriced(tree.totals.unpriced)}</p>}
      </div>
      {!node.deleted && (
        <div className={styles.actions}>
          <Link to="/" search={{ from: node.run_id }} className={buttonClass({ kind: "primary" })}>
            {text.run.editAgain}
          </Link>
          <Button onClick={() => onOpen(node.run_id)}>{words.openRun}</Button>
          {node.parent_run_id && (
            <Link
              to="/compare"
              search={{ items: `${node.parent_run_id},${node.run_id}` }}
              className={buttonClass()}
              title={words.compare}
            >
              {text.navigation.compare}
            </Link>
          )}
        </div>
      )}
    </aside>
  );
}

function NodeMedia({ node }: { node: RunNode }) {
  const url = node.deleted ? undefined : (node.thumbnails?.large ?? node.image_url);
  return (
    <div className={styles.media}>
      {url ? <img src={url} alt={node.prompt ?? nodeTitle(node)} /> : <Icon of={ImageOff} size="l" />}
    </div>
  );
}

function NodeFacts({ node }: { node: RunNode }) {
  return (
    <div className={styles.lead}>
      <p className={styles.prompt}>{node.prompt ?? nodeTitle(node)}</p>
      <dl className={styles.facts}>
        <dt>{words.state}</dt>
        <dd>{node.deleted ? words.deleted : <RunState status={node.status} />}</dd>
        <dt>{words.operation}</dt>
        <dd>{nodeTitle(node)}</dd>
        <dt>{text.run.model}</dt>
        <dd>{[node.model, node.provider].filter(Boolean).join(" · ") || "–"}</dd>
        <dt>{words.created}</dt>
        <dd>{formatDateTime(node.created_at)}</dd>
      </dl>
    </div>
  );
}

function TreeCosts({ tree, node }: { tree: RunTree; node: RunNode }) {
  const branch = branchSum(tree.nodes, node.run_id);
  const lines: [label: string, amount: number][] = [
    [words.thisRun, node.cost?.amount ?? 0],
    [words.path, pathSum(tree.nodes, node.run_id).amount],
    [words.branch(branch.runs), branch.amount],
  ];
  return (
    <dl className={styles.costs}>
      {lines.map(([label, amount]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{formatMoney(amount)}</dd>
        </div>
      ))}
      <div className={styles.whole}>
        <dt>{words.whole}</dt>
        <dd>{formatMoney(tree.totals.amount)}</dd>
      </div>
    </dl>
  );
}
