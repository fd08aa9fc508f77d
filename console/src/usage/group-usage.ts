// Groups the rows of a usage report for the chart and the table. Amounts are whole micro-dollars, so that the bars, the
// table and the report have exactly the same sums. The largest groups have a colour of their own, the others share one.
import type { UsageReport } from "@gesso/client";
import type { Grouping } from "./usage-search.ts";

type UsageRow = UsageReport["data"][number];

/** `id` is null for runs without a model or key, and `others` has no id. */
export type UsageGroup = { id: string | null; isOthers: boolean; members: number; runs: number; micros: number };
/** Unique among the groups of one report, unlike their names. */
export const groupKey = ({ id, isOthers }: UsageGroup): string => (isOthers ? "others" : `id ${id}`);
export type UsageBucket = { start: string; runs: number[]; micros: number[] };
export type GroupedUsage = { groups: UsageGroup[]; buckets: UsageBucket[] };

/** As many as the design has hues; the fifth colour is for all others. */
const MAX_OWN_GROUPS = 4;
const MAX_DAY_BUCKETS = 92;

export const toMicros = (dollars: number): number => Math.round(dollars * 1e6);

const idOf = (row: UsageRow, by: Grouping): string | null => (by === "key" ? row.key_id : row[by]) ?? null;

/** The first days of the buckets: days, or months if there are many days. */
const bucketOf = (day: string, isMonthly: boolean) => (isMonthly ? day.slice(0, 7) : day);

export const isMonthly = (days: readonly string[]): boolean => days.length > MAX_DAY_BUCKETS;

export function groupUsage(rows: readonly UsageRow[], by: Grouping, days: readonly string[]): GroupedUsage {
  const monthly = isMonthly(days);
  const groups = rankGroups(rows, by);
  const indexes = new Map<string | null, number>();
  for (const [index, group] of groups.entries()) if (!group.isOthers) indexes.set(group.id, index);
  const starts = [...new Set(days.map((day) => bucketOf(day, monthly)))];
  const buckets = new Map(starts.map((start) => [start, emptyBucket(start, groups.length)]));
  for (const row of rows) {
    const bucket = buckets.get(bucketOf(row.day ?? "", monthly));
    const index = indexes.get(idOf(row, by)) ?? groups.length - 1;
    if (!bucket) continue;
    bucket.runs[index] = (bucket.runs[index] ?? 0) + row.runs;
    bucket.micros[index] = (bucket.micros[index] ?? 0) + toMicros(row.amount);
  }
  return { groups, buckets: [...buckets.values()] };
}

const emptyBucket = (start: string, groups: number): UsageBucket => ({
  ...{ start, runs: Array<number>(groups).fill(0), micros: Array<number>(groups).fill(0) },
});

/** The groups by cost, then by runs; all after the fourth as one. */
function rankGroups(rows: readonly UsageRow[], by: Grouping): UsageGroup[] {
  const sums = new Map<string | null, UsageGroup>();
  for (const row of rows) {
    const id = idOf(row, by);
    const known = sums.get(id) ?? { id, isOthers: false, members: 1, runs: 0, micros: 0 };
    sums.set(id, { ...known, runs: known.runs + row.runs, micros: known.micros + toMicros(row.amount) });
  }
  const ranked = [...sums.values()].sort((a, b) => b.micros - a.micros || b.runs - a.runs);
  if (ranked.length <= MAX_OWN_GROUPS + 1) return ranked;
  const rest = ranked.slice(MAX_OWN_GROUPS);
  const sum = (read: (group: UsageGroup) => number) => rest.reduce((total, each) => total + read(each), 0);
  const others = {
    ...{ id: null, isOthers: true, members: rest.length },
    ...{ runs: sum(({ runs }) => runs), micros: sum(({ micros }) => micros) },
  };
  return [...ranked.slice(0, MAX_OWN_GROUPS), others];
}
