// The tray at the lower edge of every page: runs in progress and those that just ended. It can unfold to a list.
import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, WifiOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { RUN_DRAG_TYPE } from "../parts/run-drag.ts";
import { text } from "../text/text.ts";
import { ANNOUNCEMENT_INTERVAL_MS, announcementOf } from "./announcement.ts";
import styles from "./tray.module.css";
import { TrayList } from "./tray-list.tsx";
import { TrayProgress } from "./tray-progress.tsx";
import { isOpen, openRuns, recentlyEnded, type TrayRun } from "./tray-runs.ts";
import { TrayThumbnail } from "./tray-thumbnail.tsx";
import { useIsConnected, useTrayRuns } from "./use-tray-runs.ts";

const MAX_TILES = 6;
const MAX_ENDED_TILES = 4;
const MAX_ENDED_ROWS = 20;

export function Tray() {
  const runs = useTrayRuns();
  const [isExpanded, setIsExpanded] = useState(false);
  const open = openRuns(runs);
  const ended = recentlyEnded(runs, Date.now(), MAX_ENDED_ROWS);
  const shown = [...open, ...ended];
  return (
    <aside className={styles.tray} aria-label={text.tray.label}>
      {isExpanded && shown.length > 0 && <TrayList runs={shown} onClose={() => setIsExpanded(false)} />}
      {shown.length === 0 && <p className={styles.empty}>{text.tray.empty}</p>}
      {[...open, ...ended.slice(0, MAX_ENDED_TILES)].slice(0, MAX_TILES).map((run) => (
        <TrayTile key={run.run_id} run={run} />
      ))}
      <div className={styles.end}>
        <TraySummary open={open} />
        {shown.length > 0 && (
          <Button
            kind="quiet"
            size="s"
            isIconOnly
            label={isExpanded ? text.tray.collapse : text.tray.expand}
            aria-expanded={isExpanded}
            onClick={() => setIsExpanded(!isExpanded)}
          >
            <Icon of={isExpanded ? ChevronDown : ChevronUp} size="s" />
          </Button>
        )}
      </div>
      <TrayAnnouncer runs={shown} />
    </aside>
  );
}

/** Tells screen readers about runs that changed their state, without flooding them. */
function TrayAnnouncer({ runs }: { runs: readonly TrayRun[] }) {
  const current = useRef(runs);
  current.current = runs;
  const [sentence, setSentence] = useState("");
  useEffect(() => {
    let announced = new Map(current.current.map(({ run_id, status }) => [run_id, status]));
    const timer = setInterval(() => {
      const next = announcementOf(current.current, announced);
      announced = new Map(current.current.map(({ run_id, status }) => [run_id, status]));
      if (next) setSentence(next);
    }, ANNOUNCEMENT_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="visually-hidden" role="status">
      {sentence}
    </p>
  );
}

/** How many runs are open, and whether the page hears of their progress. */
function TraySummary({ open }: { open: readonly TrayRun[] }) {
  const isConnected = useIsConnected();
  const queued = open.filter(({ status }) => status === "queued").length;
  const running = open.length - queued;
  if (!isConnected) {
    return (
      <span className={styles.lost} role="status">
        <Icon of={WifiOff} size="s" />
        <span className={styles.words}>{text.tray.reconnecting}</span>
      </span>
    );
  }
  if (open.length === 0) return null;
  return (
    <span className="numeric">
      {text.tray.running(running)}
      {queued > 0 && <span className={styles.words}>, {text.tray.queued(queued)}</span>}
    </span>
  );
}

/** One run in the tray. It links to the run and can be dragged into an image field. */
function TrayTile({ run }: { run: TrayRun }) {
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
