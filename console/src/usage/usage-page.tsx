// Usage: what was spent, by which key and for what, as figures, bars and a table with equal sums, and what is left of
// limits.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ChartNoAxesColumn, Download } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { saveBlob } from "../parts/save-blob.ts";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { Budgets } from "./budgets.tsx";
import { type DateRange, formatLongDay, formatRangeStart, rangeBefore, rangeOf } from "./date-range.ts";
import { UsageBreakdown } from "./usage-breakdown.tsx";
import { UsageFigures } from "./usage-figures.tsx";
import styles from "./usage-page.module.css";
import { fetchUsageCsv, usageQuery, usageTotalQuery } from "./usage-queries.ts";
import { type Grouping, PERIODS, type Period } from "./usage-search.ts";

const route = getRouteApi("/shell/usage");
const words = text.usage;

export function UsagePage() {
  const { period = "30", by = "model", measure } = route.useSearch();
  const navigate = route.useNavigate();
  const [now] = useState(Date.now);
  const range = rangeOf(period, now);
  const { data: report, error, refetch } = useQuery({ ...usageQuery(range, by), placeholderData: keepPreviousData });
  const { data: before } = useQuery(usageTotalQuery(rangeBefore(range)));
  const rangeText = words.range(formatRangeStart(range), formatLongDay(range.to));
  return (
    <>
      <TopBar title={text.navigation.usage}>
        <span className={styles.sub}>{rangeText}</span>
        <span className={styles.grow} />
        <span className={styles.periods}>
          <Segments
            label={words.period}
            isSmall
            options={PERIODS.map((id) => ({ id, label: words.periods[id] }))}
            value={period}
            onChange={(id) => void navigate({ search: (old) => ({ ...old, period: id as Period }), replace: true })}
          />
        </span>
        <CsvButton range={range} by={by} />
      </TopBar>
      <div className={styles.body} aria-busy={!report && !error}>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        <UsageFigures report={report} before={before} range={range} />
        <div className={styles.columns}>
          {report?.total.runs === 0 ? (
            <EmptyState
              icon={ChartNoAxesColumn}
              title={words.emptyTitle}
              action={
                <Link to="/" className={buttonClass({ kind: "primary" })}>
                  {words.emptyNext}
                </Link>
              }
            >
              {words.empty}
            </EmptyState>
          ) : (
            <UsageBreakdown report={report} range={range} rangeText={rangeText} by={by} measure={measure} />
          )}
          <Budgets now={now} />
        </div>
      </div>
    </>
  );
}

function CsvButton({ range, by }: { range: DateRange; by: Grouping }) {
  const [isFailed, setIsFailed] = useState(false);
  const download = async () => {
    try {
      saveBlob(await fetchUsageCsv(range, by), `usage-${range.from}-to-${range.to}-by-${by}.csv`);
      setIsFailed(false);
    } catch {
      setIsFailed(true);
    }
  };
  return (
    <>
      <Button onClick={() => void download()}>
        <Icon of={Download} />
        {words.csv}
      </Button>
      {isFailed && (
        <span className={styles.bad} role="alert">
          {words.csvFailed}
        </span>
      )}
    </>
  );
}
