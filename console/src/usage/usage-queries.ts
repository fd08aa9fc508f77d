// The requests of the usage page.
import { GessoError } from "@gesso/client";
import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { CONSOLE_HEADERS } from "../api/console-headers.ts";
import type { DateRange } from "./date-range.ts";
import type { Grouping } from "./usage-search.ts";

const FORBIDDEN = 403;
const KEY_LIMIT = 100;

export const usageQuery = (range: DateRange, by: Grouping) =>
  queryOptions({
    queryKey: ["usage", range, by],
    queryFn: async () => client.usage.get({ ...range, by: `day,${by}` }),
  });

/** Only the sums, for the comparison with the period before. */
export const usageTotalQuery = (range: DateRange) =>
  queryOptions({
    queryKey: ["usage", range, "total"],
    queryFn: async () => (await client.usage.get({ ...range, by: "operation" })).total,
  });

/** The limits of all keys, or of this credential only if it may not read keys. */
export const budgetsQuery = queryOptions({
  queryKey: ["usage", "budgets"],
  queryFn: async () => {
    try {
      return (await client.usage.get({ all_keys: true, by: "operation" })).budgets;
    } catch (error) {
      if (!GessoError.isInstance(error) || error.status !== FORBIDDEN) throw error;
      return (await client.usage.get({ by: "operation" })).budgets;
    }
  },
});

/** Names of keys by ID. Without the right to read keys, their IDs are shown. */
export const keyNamesQuery = queryOptions({
  queryKey: ["keys", "names"],
  queryFn: async (): Promise<ReadonlyMap<string, string>> => {
    try {
      const { data } = await client.keys.list({ limit: KEY_LIMIT });
      return new Map(data.map(({ id, name }) => [id, name]));
    } catch (error) {
      if (GessoError.isInstance(error) && error.status === FORBIDDEN) return new Map();
      throw error;
    }
  },
});

/** The report as the API renders it: byte for byte what a request with `Accept: text/csv` returns. */
export async function fetchUsageCsv(range: DateRange, by: Grouping): Promise<Blob> {
  const query = new URLSearchParams({ ...range, by: `day,${by}` });
  const response = await fetch(`/console/api/v1/usage?${query}`, {
    headers: { ...CONSOLE_HEADERS, accept: "text/csv" },
  });
  if (!response.ok) throw new Error(`The report returned HTTP ${response.status}`);
  return response.blob();
}
