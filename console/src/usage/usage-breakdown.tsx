// Chart and table of one report, grouped by model, operation or key, or by what the cost counts for.
import type { UsageReport } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import { type DateRange, formatLongDay, formatLongMonth, listDays } from "./date-range.ts";
import { type GroupedUsage, groupKey, groupUsage, isMonthly, type UsageGroup } from "./group-usage.ts";
import { Swatch } from "./swatch.tsx";
import chartStyles from "./usage-chart.module.css";
import { formatMeasure, UsageChart } from "./usage-chart.tsx";
import styles from "./usage-page.module.css";
import { keyNamesQuery } from "./usage-queries.ts";
import { GROUPINGS, type Grouping, MEASURES, type Measure } from "./usage-search.ts";
import { UsageTable } from "./usage-table.tsx";

type UsageBreakdownProps = {
  report: UsageReport | undefined;
  range: DateRange;
  rangeText: string;
  by: Grouping;
  /** Default: spend, or runs if nothing has a cost. */
  measure: Measure | undefined;
};

const route = getRouteApi("/shell/usage");
const words = text.usage;
const ID_LENGTH = 8;
const isAttribution = (by: Grouping): by is keyof typeof words.onlyNamed => by in words.onlyNamed;

export function UsageBreakdown({ report, range, rangeText, by, measure: chosen }: UsageBreakdownProps) {
  const navigate = route.useNavigate();
  const [pointed, setPointed] = useState<number>();
  const days = useMemo(() => listDays(range), [range]);
  const usage = useMemo(() => groupUsage(report?.data ?? [], by, days), [report, by, days]);
  const nameOf = useGroupName(by);
  const names = usage.groups.map(nameOf);
  const measure = chosen ?? (report?.total.amount === 0 ? "runs" : "spend");
  const monthly = isMonthly(days);
  const title = (monthly ? words.perMonthTitle : words.perDayTitle)[measure];
  return (
    <div className={styles.stack}>
      <section aria-label={title}>
        <div className={styles.head}>
          <h2>{title}</h2>
          <span className={styles.pointed}>
            {pointed !== undefined && describeBucket(usage, pointed, { measure, monthly })}
          </span>
          <span className={styles.grow} />
          <Segments
            label={words.measure}
            isSmall
            options={MEASURES.map((id) => ({ id, label: words.measures[id] }))}
            value={measure}
            onChange={(id) => void navigate({ search: (old) => ({ ...old, measure: id as Measure }), replace: true })}
          />
          <Segments
            label={words.by}
            isSmall
            options={GROUPINGS.map((id) => ({ id, label: words.groupings[id] }))}
            value={by}
            onChange={(id) => void navigate({ search: (old) => ({ ...old, by: id as Grouping }), replace: true })}
          />
        </div>
        <UsageChart
          {...{ usage, measure, title, names, isMonthly: monthly, today: range.to }}
          range={rangeText}
          onPoint={setPointed}
        />
        <ul className={chartStyles.legend} aria-hidden="true">
          {usage.groups.map((group, index) => (
            <li key={groupKey(group)}>
              <Swatch series={index} />
              {names[index]}
            </li>
          ))}
        </ul>
      </section>
      {isAttribution(by) && <p className={styles.note}>{words.onlyNamed[by]}</p>}
      {report && <UsageTable title={words.groupings[by]} groups={usage.groups} names={names} />}
    </div>
  );
}

function describeBucket(
  { buckets }: GroupedUsage,
  index: number,
  { measure, monthly }: { measure: Measure; monthly: boolean },
): string {
  const bucket = buckets[index];
  if (!bucket) return "";
  const sum = (measure === "spend" ? bucket.micros : bucket.runs).reduce((total, value) => total + value, 0);
  return `${monthly ? formatLongMonth(bucket.start) : formatLongDay(bucket.start)} · ${formatMeasure(sum, measure)}`;
}

function useGroupName(by: Grouping): (group: UsageGroup) => string {
  const { data: keyNames } = useQuery({ ...keyNamesQuery, enabled: by === "key" });
  return ({ id, isOthers, members }) => {
    if (isOthers) return words.others(members);
    if (id === null) return words.none[by];
    return by === "key" ? (keyNames?.get(id) ?? words.deletedKey(id.slice(0, ID_LENGTH))) : id;
  };
}
