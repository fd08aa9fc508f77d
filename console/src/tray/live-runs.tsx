// Writes live events into the cache: the tray, the run itself and the lists that show it. Renders nothing.
import type { Run, RunEvent } from "@gesso/client";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { client } from "../api/client.ts";
import { runQuery, sessionQuery } from "../api/queries.ts";
import { fetchSession } from "../api/session.ts";
import { storeRun } from "../api/store-run.ts";
import { followLiveEvents, type LiveMessage } from "./live-stream.ts";
import { readAgain } from "./read-again.ts";
import { CONNECTION_KEY, TRAY_KEY } from "./tray-query.ts";
import { fromEvent, fromRun, isOpen, putRun, type TrayRuns } from "./tray-runs.ts";

export function LiveRuns() {
  const queryClient = useQueryClient();
  useEffect(
    () =>
      followLiveEvents({
        onMessage: (message) => applyMessage(queryClient, message),
        onRefused: () => void checkSession(queryClient),
      }),
    [queryClient],
  );
  return null;
}

function applyMessage(queryClient: QueryClient, message: LiveMessage): void {
  if (message.kind === "event") {
    applyEvent(queryClient, message.event);
    return;
  }
  queryClient.setQueryData(CONNECTION_KEY, message.isConnected);
  // Events between the reading of the list and the opening of the stream are in neither, so the list is read again.
  if (message.isConnected) for (const queryKey of [TRAY_KEY, ["runs", "list"]]) void readAgain(queryClient, queryKey);
}

function applyEvent(queryClient: QueryClient, event: RunEvent): void {
  const runs = queryClient.getQueryData<TrayRuns>(TRAY_KEY) ?? {};
  const known = runs[event.data.run_id];
  const next = fromEvent(event, known);
  queryClient.setQueryData<TrayRuns>(TRAY_KEY, putRun(runs, next));
  queryClient.setQueryData<Run>(runQuery(next.run_id).queryKey, (run) =>
    run && isOpen(run) ? { ...run, ...event.data } : run,
  );
  // An event has no prompt and no cost, so a new run and an ended one are read once.
  if (!known || !isOpen(next)) void readRun(queryClient, next.run_id);
  if (!known || !isOpen(next)) {
    void queryClient.invalidateQueries({ queryKey: ["runs", "list"] });
    // A new run can belong to any tree that is open.
    void queryClient.invalidateQueries({
      predicate: ({ queryKey }) => queryKey[0] === "runs" && queryKey[2] === "tree",
    });
  }
  if (!isOpen(next)) void queryClient.invalidateQueries({ queryKey: ["usage"] });
}

async function readRun(queryClient: QueryClient, runId: string): Promise<void> {
  const run = await client.runs.get(runId).catch(() => undefined);
  if (!run) return;
  storeRun(queryClient, run);
  queryClient.setQueryData<TrayRuns>(TRAY_KEY, (runs = {}) => putRun(runs, fromRun(run)));
}

/** A refused stream can mean that the session has ended. */
async function checkSession(queryClient: QueryClient): Promise<void> {
  const session = await fetchSession().catch(() => undefined);
  if (session === null) queryClient.setQueryData(sessionQuery.queryKey, null);
}
