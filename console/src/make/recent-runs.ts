// The newest runs, which Make shows and whose prompts can be used again.
import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const LIMIT = 40;

export const recentRunsQuery = queryOptions({
  queryKey: ["runs", "list", "recent"],
  queryFn: async () => client.runs.list({ limit: LIMIT }),
});
