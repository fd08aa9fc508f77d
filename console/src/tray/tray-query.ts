// The state of the tray in the cache: read from the server once, then kept by live events.
import type { Run } from "@gesso/client";
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { storeRun } from "../api/store-run.ts";
import { fromRun, isOpen, putRun, type TrayRuns } from "./tray-runs.ts";

export const TRAY_KEY = ["tray"];
export const CONNECTION_KEY = ["connection"];

const LIMIT = 100;
/** How many of the newest runs are read for those that just ended. */
const RECENT_LIMIT = 20;

export const trayQuery = (queryClient: QueryClient) =>
  queryOptions({
    queryKey: TRAY_KEY,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => readTray(queryClient),
  });

async function readTray(queryClient: QueryClient): Promise<TrayRuns> {
  const known = () => queryClient.getQueryData<TrayRuns>(TRAY_KEY) ?? {};
  const lists = await Promise.all([
    client.runs.list({ status: "processing", limit: LIMIT }),
    client.runs.list({ status: "queued", limit: LIMIT }),
    client.runs.list({ limit: RECENT_LIMIT }),
  ]);
  const listed = lists.flatMap(({ data }) => data);
  // Runs that ended while the page was offline are in neither list.
  const missing = Object.values(known()).filter(
    (run) => isOpen(run) && !run.isStarting && !listed.some(({ run_id }) => run_id === run.run_id),
  );
  const ended = await Promise.all(missing.map(({ run_id }) => client.runs.get(run_id).catch(() => undefined)));
  const read = [...listed, ...ended.filter((run): run is Run => run !== undefined)];
  // Live events change these entries; without an entry they would reach only the tray.
  for (const run of read) storeRun(queryClient, run);
  // Events that arrived meanwhile are in the cache and may be newer.
  return read.reduce((runs, run) => putRun(runs, fromRun(run)), known());
}
