// Starts the runs of a draft. Each run stands in the tray at once, before the server has accepted it.

import type { Run } from "@gesso/client";
import { ConnectionError } from "@gesso/client";
import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { findPrompt } from "../parts/run-prompt.ts";
import { TRAY_KEY } from "../tray/tray-query.ts";
import { dropRun, fromRun, putRun, type TrayRuns } from "../tray/tray-runs.ts";
import { type AcceptedRun, callOperation } from "./call-operation.ts";
import { type DraftRequest, fingerprintOfRequest } from "./draft.ts";
import { estimateRequest } from "./estimate-request.ts";
import { createIdempotencyKeys } from "./idempotency-keys.ts";

export function useStartRuns() {
  const queryClient = useQueryClient();
  const [keys] = useState(() =>
    createIdempotencyKeys({ now: () => Date.now(), createKey: () => `console-${crypto.randomUUID()}` }),
  );

  const start = async (request: DraftRequest): Promise<AcceptedRun> => {
    const fingerprint = fingerprintOfRequest(request);
    const key = keys.keyFor(fingerprint);
    changeTray(queryClient, (runs) => putRun(runs, startingRun(key, request)));
    try {
      const accepted = await callOperation(request, key);
      keys.settle(fingerprint);
      await showRun(queryClient, accepted.runId);
      return accepted;
    } catch (error) {
      // Without a response the run may exist: the next press asks with the same key.
      if (!ConnectionError.isInstance(error)) keys.settle(fingerprint);
      throw error;
    } finally {
      changeTray(queryClient, (runs) => dropRun(runs, key));
    }
  };

  return useMutation({
    mutationFn: async (requests: readonly DraftRequest[]) => {
      // With several models none starts unless all are accepted, so that an error costs nothing.
      if (requests.length > 1) await Promise.all(requests.map((request) => estimateRequest(request)));
      const outcomes = await Promise.allSettled(requests.map(start));
      void queryClient.invalidateQueries({ queryKey: ["runs", "list"] });
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
      return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    },
  });
}

const changeTray = (queryClient: QueryClient, change: (runs: TrayRuns) => TrayRuns) =>
  queryClient.setQueryData<TrayRuns>(TRAY_KEY, (runs = {}) => change(runs));

async function showRun(queryClient: QueryClient, runId: string): Promise<void> {
  const run: Run | undefined = await client.runs.get(runId).catch(() => undefined);
  if (!run) return;
  queryClient.setQueryData(runQuery(runId).queryKey, run);
  changeTray(queryClient, (runs) => putRun(runs, fromRun(run)));
}

const startingRun = (key: string, { input, model }: DraftRequest) => ({
  run_id: key,
  status: "queued",
  run_type: "",
  progress: 0,
  prompt: findPrompt({ inputs: input }),
  model: model ?? null,
  image_url: null,
  amount: null,
  error_code: null,
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
  isStarting: true as const,
});
