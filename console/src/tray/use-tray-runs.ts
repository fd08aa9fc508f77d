// The runs of the tray, and whether live events arrive.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CONNECTION_KEY, trayQuery } from "./tray-query.ts";
import type { TrayRuns } from "./tray-runs.ts";

const NO_RUNS: TrayRuns = {};

export function useTrayRuns(): TrayRuns {
  const { data } = useQuery(trayQuery(useQueryClient()));
  return data ?? NO_RUNS;
}

export function useIsConnected(): boolean {
  const { data } = useQuery<boolean>({
    queryKey: CONNECTION_KEY,
    queryFn: () => true,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? true;
}
