// A run without a file that has not failed: its progress and place in the queue, or a result that is not a file.
import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./failed-run.module.css";

export function UnfinishedRun({ run }: { run: Run }) {
  const { status, provider, progress, queue_position, estimated_start_at } = run;
  const isOpen = status === "queued" || status === "processing";
  return (
    <div className={styles.card}>
      <h2 className={styles.title}>
        <RunState status={status} />
      </h2>
      {isOpen && <ProgressLine value={progress} label={text.run.states.processing} />}
      {status === "queued" && queue_position && <p>{text.run.queuedAt(queue_position)}</p>}
      {status === "queued" && estimated_start_at && <p>{startText(estimated_start_at)}</p>}
      {status === "processing" && provider && <p>{text.run.processingBy(provider)}</p>}
      {status === "completed" && <p>{run.result ? text.run.resultBelow : text.run.noFile}</p>}
      {isOpen && <CancelRun runId={run.run_id} />}
    </div>
  );
}

const startText = (iso: string) =>
  text.runPage.startsIn(Math.max(0, Math.round((Date.parse(iso) - Date.now()) / 1000)));

function CancelRun({ runId }: { runId: string }) {
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => client.runs.cancel(runId),
    onSettled: () => queryClient.invalidateQueries({ queryKey: runQuery(runId).queryKey }),
  });
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <Button onClick={() => mutate()} disabled={isPending}>
        {text.runPage.cancel}
      </Button>
    </>
  );
}
