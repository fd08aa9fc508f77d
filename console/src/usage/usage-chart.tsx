// Stacked bars per day or month. The drawing is for the eye; a table with the same numbers follows for screen readers.
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import { CHART_HEIGHT, layoutBars } from "./bar-layout.ts";
import { formatDay, formatLongDay, formatLongMonth, formatMonth } from "./date-range.ts";
import { type GroupedUsage, groupKey } from "./group-usage.ts";
import styles from "./usage-chart.module.css";
import type { Measure } from "./usage-search.ts";

type UsageChartProps = {
  usage: GroupedUsage;
  measure: Measure;
  title: string;
  range: string;
  names: readonly string[];
  isMonthly: boolean;
  today: string;
  onPoint(bucket: number | undefined): void;
};

const MICROS = 1e6;
const CENT = 10_000;

export const formatMeasure = (value: number, measure: Measure): string =>
  measure === "spend" ? formatMoney(value / MICROS) : value.toLocaleString("en");

/** Lines of whole dollars need no cents. */
const formatTick = (value: number, measure: Measure) => formatMeasure(value, measure).replace(/\.00$/, "");
const formatStart = (start: string, isMonthly: boolean) => (isMonthly ? formatMonth(start) : formatDay(start));

export function UsageChart(props: UsageChartProps) {
  const { usage, measure, title, range, isMonthly, today, onPoint } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const values = usage.buckets.map((bucket) => (measure === "spend" ? bucket.micros : bucket.runs));
  const { rects, lines, labels, columnWidth, left } = layoutBars(values, width, {
    smallestStep: measure === "spend" ? CENT : 1,
  });
  const last = usage.buckets.length - 1;
  return (
    <div ref={box} className={styles.box}>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${width} ${CHART_HEIGHT}`}
        width={width}
        height={CHART_HEIGHT}
        role="img"
        aria-label={text.usage.chart(title, range)}
      >
        {lines.map(({ y, value }) => (
          <g key={value}>
            <line className={styles.line} x1={left - 4} x2={width} y1={y} y2={y} />
            <text x={left - 12} y={y + 4} textAnchor="end">
              {usage.groups.length > 0 && formatTick(value, measure)}
            </text>
          </g>
        ))}
        {rects.map(({ bucket, series, ...rect }) => (
          <rect
            key={`${bucket} ${series}`}
            className={styles[`series${Math.min(series, 4)}`]}
            data-value={values[bucket]?.[series]}
            rx={1}
            {...rect}
          />
        ))}
        {labels.map(({ x, bucket }) => {
          const start = usage.buckets[bucket]?.start ?? "";
          const isToday = bucket === last && (start === today || start === today.slice(0, 7));
          return (
            <text
              key={start}
              className={isToday ? styles.today : undefined}
              x={bucket === last && last > 0 ? Math.min(x + 18, width) : x}
              y={CHART_HEIGHT - 5}
              textAnchor={bucket === last && last > 0 ? "end" : "middle"}
            >
              {isToday && !isMonthly ? text.usage.today : formatStart(start, isMonthly)}
            </text>
          );
        })}
        {usage.buckets.map(({ start }, bucket) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the numbers are in the table that follows
          <rect
            key={start}
            className={styles.column}
            x={left + bucket * columnWidth}
            y={0}
            width={columnWidth}
            height={CHART_HEIGHT}
            onMouseEnter={() => onPoint(bucket)}
            onMouseLeave={() => onPoint(undefined)}
          />
        ))}
      </svg>
      <ChartTable {...props} />
    </div>
  );
}

function ChartTable({ usage, measure, title, names, isMonthly }: UsageChartProps) {
  const keys = usage.groups.map(groupKey);
  return (
    <table className="visually-hidden">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{isMonthly ? text.usage.month : text.usage.day}</th>
          {usage.groups.map((group, index) => (
            <th key={groupKey(group)} scope="col">
              {names[index]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {usage.buckets.map((bucket) => (
          <tr key={bucket.start}>
            <th scope="row">{isMonthly ? formatLongMonth(bucket.start) : formatLongDay(bucket.start)}</th>
            {(measure === "spend" ? bucket.micros : bucket.runs).map((value, index) => (
              <td key={keys[index]}>{formatMeasure(value, measure)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The width of an element in CSS pixels, for drawings whose text must not be scaled. 0 until it is known. */
function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
