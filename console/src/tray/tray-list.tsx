// The unfolded tray: every run with its state and cost, and buttons to cancel.
import { useMutation } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { text } from "../text/text.ts";
import styles from "./tray-list.module.css";
import { TrayRow } from "./tray-row.tsx";
import type { TrayRun } from "./tray-runs.ts";

type TrayListProps = { runs: readonly TrayRun[]; onClose(): void };

export function TrayList({ runs, onClose }: TrayListProps) {
  const queued = runs.filter(({ status, isStarting }) => status === "queued" && !isStarting);
  const cancelQueued = useMutation({
    mutationFn: async () => client.runs.cancelAll({ status: "queued" }),
  });
  return (
    <section
      className={styles.list}
      aria-label={text.tray.label}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <header>
        <h2>{text.tray.label}</h2>
        {cancelQueued.data && (
          <span className={styles.note} role="status">
            {text.tray.canceledCount(cancelQueued.data.canceled)}
          </span>
        )}
        {queued.length > 0 && (
          <Button size="s" onClick={() => cancelQueued.mutate()} aria-disabled={cancelQueued.isPending}>
            {text.tray.cancelQueued}
          </Button>
        )}
      </header>
      <ul>
        {runs.map((run) => (
          <TrayRow key={run.run_id} run={run} />
        ))}
      </ul>
    </section>
  );
}
