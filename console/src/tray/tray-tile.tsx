// One run in the tray. It links to the run and can be dragged into an image field.
import { Link } from "@tanstack/react-router";
import { classNames } from "../parts/class-names.ts";
import { RUN_DRAG_TYPE } from "../parts/run-drag.ts";
import { text } from "../text/text.ts";
import styles from "./tray.module.css";
import { TrayProgress } from "./tray-progress.tsx";
import type { TrayRun } from "./tray-runs.ts";
import { isOpen } from "./tray-runs.ts";
import { TrayThumbnail } from "./tray-thumbnail.tsx";

export function TrayTile({ run }: { run: TrayRun }) {
  const prompt = run.prompt ?? text.runPage.runTypes[run.run_type] ?? text.run.noPrompt;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run.run_id }}
      disabled={run.isStarting ?? false}
      className={classNames(styles.tile, !isOpen(run) && styles.ended)}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(RUN_DRAG_TYPE, run.run_id)}
    >
      <TrayThumbnail run={run} />
      <span className={styles.facts}>
        <span className={styles.prompt}>{prompt}</span> <TrayProgress run={run} />
      </span>
    </Link>
  );
}
