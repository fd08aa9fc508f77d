// Reads what is shown again, after a moment that it must know of. A first read that is under way may have been answered
// before that moment, and invalidating reuses it: then the query is read once more when it has ended.
import type { QueryClient, QueryKey } from "@tanstack/react-query";

export async function readAgain(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  const firstReads = queryClient
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: "fetching" })
    .filter(({ state }) => state.data === undefined);
  await queryClient.invalidateQueries({ queryKey });
  await Promise.allSettled(firstReads.map(({ promise }) => promise));
  await Promise.all(
    firstReads.map((query) => queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })),
  );
}
