// A run that the page has started, up to its end. Live events change it at once; the interval is for times without.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { runQuery } from "../api/queries.ts";

const INTERVAL_MS = 1000;

const isOpenRun = (run: Run | undefined) => run?.status === "queued" || run?.status === "processing";

export function useOpenRun(runId: string | undefined, onCompleted?: (run: Run) => void): Run | undefined {
  const { data: run } = useQuery({
    ...runQuery(runId ?? ""),
    enabled: runId !== undefined,
    refetchInterval: ({ state }) => (isOpenRun(state.data) ? INTERVAL_MS : false),
  });
  const reported = useRef<string>(undefined);
  useEffect(() => {
    if (!run || run.run_id !== runId || run.status !== "completed" || reported.current === runId) return;
    reported.current = runId;
    onCompleted?.(run);
  });
  return runId === undefined ? undefined : run;
}
