// Puts a run that was read into the cache, where pages and live events find it.
import type { Run } from "@gesso/client";
import type { QueryClient } from "@tanstack/react-query";
import { mergeRun } from "./merge-run.ts";
import { runQuery } from "./queries.ts";

export function storeRun(queryClient: QueryClient, run: Run): void {
  queryClient.setQueryData<Run>(runQuery(run.run_id).queryKey, (known) => mergeRun(known, run));
}
