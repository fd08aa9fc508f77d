// The models of the installation as rows that open to show their offers.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Box } from "lucide-react";
import { useMemo } from "react";
import { previewRunsQuery } from "../api/models.ts";
import { catalogueQuery } from "../api/queries.ts";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { describeModel, listProviders, selectModels } from "./catalogue-facts.ts";
import { CatalogueRow } from "./catalogue-row.tsx";
import styles from "./models-page.module.css";

const SKELETON_ROWS = 5;
/** Offers are paused and used again without an event. */
const REFRESH_MS = 30_000;

export function CatalogueList({ group, isByPrice }: { group: string; isByPrice: boolean }) {
  const { data, error, refetch } = useQuery({ ...catalogueQuery, refetchInterval: REFRESH_MS });
  const { data: runs } = useQuery(previewRunsQuery);
  const previews = useMemo(() => newestByModel(runs?.data ?? []), [runs]);
  if (error)
    return (
      <div className={styles.notice}>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (!data) return <LoadingRows />;
  if (data.models.length === 0)
    return (
      <EmptyState icon={Box} title={text.models.empty}>
        {text.models.emptyNext}
      </EmptyState>
    );
  const models = selectModels(data, group, isByPrice);
  const isSandboxOnly = listProviders(data).every((provider) => provider === "sandbox" || provider === "local");
  const { model, honours, providers, price, speed } = text.models.columns;
  const now = Date.now();
  return (
    <>
      {isSandboxOnly && (
        <div className={styles.notice}>
          <Notice
            kind="info"
            title={text.models.sandboxOnly}
            actions={
              <Link to="/system" className={buttonClass({ size: "s" })}>
                {text.models.connectProvider}
              </Link>
            }
          >
            {text.models.sandboxNext}
          </Notice>
        </div>
      )}
      <div className={styles.head} aria-hidden="true">
        <span />
        <span>{model}</span>
        <span>{honours}</span>
        <span>{providers}</span>
        <span className={styles.right}>{price}</span>
        <span className={styles.right}>{speed}</span>
      </div>
      <ul className={styles.list} aria-label={text.models.list}>
        {models.map((each) => (
          <CatalogueRow
            key={each.model}
            model={each}
            says={describeModel(each, data.tasks)}
            preview={previews.get(each.model)}
            now={now}
          />
        ))}
      </ul>
    </>
  );
}

/** The newest run of each model that has an image. Lists begin with the newest. */
function newestByModel(runs: readonly Run[]): Map<string, Run> {
  const found = new Map<string, Run>();
  for (const run of runs) {
    const isFirst = run.model !== null && !found.has(run.model);
    if (run.model !== null && isFirst && run.outputs.length > 0) found.set(run.model, run);
  }
  return found;
}

const LoadingRows = () => (
  <div aria-hidden="true">
    {Array.from({ length: SKELETON_ROWS }, (_row, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: rows without data have no identity
      <div key={row} className={styles.loading}>
        <span />
        <span />
      </div>
    ))}
  </div>
);
