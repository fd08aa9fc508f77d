// The tree of a run on the whole page: as a graph or as a list, with the selected run beside it.
import { NotFoundError, type RunTree } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, ChevronRight, ImageOff } from "lucide-react";
import { useCallback } from "react";
import { runTreeQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { TreeGraph } from "./tree-graph.tsx";
import list from "./tree-list.module.css";
import { TreeList } from "./tree-list.tsx";
import styles from "./tree-page.module.css";
import { TreePanel } from "./tree-panel.tsx";

const words = text.runPage.tree;

export type TreeView = "graph" | "list";
type TreePageProps = { runId: string; view: TreeView; node: string | undefined };

export function TreePage({ runId, view, node }: TreePageProps) {
  const { data: tree, error, refetch } = useQuery(runTreeQuery(runId));
  const navigate = useNavigate({ from: "/runs/$runId" });
  const show = useCallback(
    (next: { view?: TreeView; node?: string }) =>
      void navigate({
        to: "/runs/$runId",
        params: { runId },
        search: (search) => ({ ...search, ...next }),
        replace: true,
      }),
    [navigate, runId],
  );
  const select = useCallback((chosen: string) => show({ node: chosen }), [show]);
  const open = useCallback(
    (chosen: string) => void navigate({ to: "/runs/$runId", params: { runId: chosen }, search: { tab: "tree" } }),
    [navigate],
  );
  if (NotFoundError.isInstance(error)) return <EmptyState icon={ImageOff} title={text.run.notThere} />;
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const selected = tree?.nodes.some(({ run_id }) => run_id === node) ? (node ?? runId) : runId;
  return (
    <>
      <TopBar title={words.title} lead={<TreeCrumbs runId={runId} tree={tree} />}>
        <span className={styles.space} />
        <Segments
          label={words.view}
          isSmall
          options={[
            { id: "graph", label: words.graph },
            { id: "list", label: words.list },
          ]}
          value={view}
          onChange={(id) => show({ view: id === "list" ? "list" : "graph" })}
        />
      </TopBar>
      {tree && (
        <div className={styles.page}>
          {view === "graph" ? (
            <TreeGraph tree={tree} selected={selected} onSelect={select} onOpen={open} />
          ) : (
            <div className={list.page}>
              <TreeList tree={tree} selected={selected} onOpen={select} />
            </div>
          )}
          <TreePanel tree={tree} runId={selected} onOpen={open} />
        </div>
      )}
    </>
  );
}

function TreeCrumbs({ runId, tree }: { runId: string; tree: RunTree | undefined }) {
  const open = tree?.nodes.filter(({ status }) => status === "queued" || status === "processing").length ?? 0;
  return (
    <span className={styles.crumbs}>
      <Link
        to="/runs/$runId"
        params={{ runId }}
        search={{ tab: "tree" }}
        className={buttonClass({ kind: "quiet", isIconOnly: true })}
        aria-label={words.backToRun}
        title={words.backToRun}
      >
        <Icon of={ArrowLeft} />
      </Link>
      <span className={styles.run}>{words.run(runId.slice(-8))}</span>
      <Icon of={ChevronRight} size="s" />
      <h1 className={styles.title}>{words.title}</h1>
      {tree && (
        <span className={styles.sum}>
          {words.spent(tree.totals.runs, formatMoney(tree.totals.amount))}
          {open > 0 && words.open(open)}
        </span>
      )}
    </span>
  );
}
