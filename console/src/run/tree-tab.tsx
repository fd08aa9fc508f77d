// The tree of a run in its panel: as a list, with the cost of every run and of all together, and the way to the graph.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Network } from "lucide-react";
import { runTreeQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { buttonClass } from "../parts/button-class.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./tree-list.module.css";
import { TreeList } from "./tree-list.tsx";

const words = text.runPage.tree;

export function TreeTab({ run }: { run: Run }) {
  const { data: tree, error, refetch } = useQuery(runTreeQuery(run.run_id));
  const navigate = useNavigate();
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!tree) return null;
  const open = (runId: string) => void navigate({ to: "/runs/$runId", params: { runId }, search: { tab: "tree" } });
  return (
    <>
      <p className={styles.head}>
        <span>
          {words.summary(tree.totals.runs)} <b>{formatMoney(tree.totals.amount)}</b>
        </span>
        <Link
          to="/runs/$runId"
          params={{ runId: run.run_id }}
          search={{ tab: "tree", view: "graph" }}
          className={buttonClass({ size: "s" })}
        >
          <Icon of={Network} size="s" />
          {words.openGraph}
        </Link>
      </p>
      <TreeList tree={tree} selected={run.run_id} onOpen={open} />
    </>
  );
}
