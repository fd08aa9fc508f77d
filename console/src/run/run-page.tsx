// A run: its image, where it came from, and a panel with what happened, what it cost and how to make it again.
import { NotFoundError } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { ImageOff } from "lucide-react";
import { lazy, Suspense } from "react";
import { runQuery } from "../api/queries.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { RunBar } from "./run-bar.tsx";
import styles from "./run-page.module.css";
import { RunPanel } from "./run-panel.tsx";
import { RunStage } from "./run-stage.tsx";

const TreePage = lazy(async () => ({ default: (await import("./tree-page.tsx")).TreePage }));

export function RunPage() {
  const { runId } = useParams({ from: "/shell/runs/$runId" });
  const { view, node } = useSearch({ from: "/shell/runs/$runId" });
  if (!view) return <SingleRun key={runId} runId={runId} />;
  return (
    <Suspense fallback={null}>
      <TreePage runId={runId} view={view} node={node} />
    </Suspense>
  );
}

function SingleRun({ runId }: { runId: string }) {
  const { data: run, error, refetch } = useQuery({ ...runQuery(runId), staleTime: 0 });
  if (error) {
    return NotFoundError.isInstance(error) ? (
      <EmptyState icon={ImageOff} title={text.run.notThere} />
    ) : (
      <div className={styles.error}>
        <h1 className="visually-hidden">{text.run.title}</h1>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (!run) return <div className={styles.page} aria-busy="true" />;
  return (
    <>
      <RunBar run={run} />
      <div className={styles.page}>
        <RunStage run={run} />
        <RunPanel run={run} />
      </div>
    </>
  );
}
