// What the usage page shows, in its URL: the period, how rows are grouped, and whether bars are money or runs.
export const PERIODS = ["today", "7", "30", "year"] as const;
export type Period = (typeof PERIODS)[number];
export const GROUPINGS = ["model", "operation", "key", "customer", "end_user", "tag"] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const MEASURES = ["spend", "runs"] as const;
export type Measure = (typeof MEASURES)[number];

export type UsageSearch = { period?: Period; by?: Grouping; measure?: Measure };

const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((each) => each === String(value));

export function parseUsageSearch(search: Record<string, unknown>): UsageSearch {
  const period = oneOf(PERIODS, search.period);
  const by = oneOf(GROUPINGS, search.by);
  const measure = oneOf(MEASURES, search.measure);
  return { ...(period && { period }), ...(by && { by }), ...(measure && { measure }) };
}
