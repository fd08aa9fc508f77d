// The tray at the lower edge of every page: runs in progress and those that just ended. It can unfold to a list.
import { ChevronDown, ChevronUp } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./tray.module.css";
import { TrayAnnouncer } from "./tray-announcer.tsx";
import { TrayList } from "./tray-list.tsx";
import { openRuns, recentlyEnded } from "./tray-runs.ts";
import { TraySummary } from "./tray-summary.tsx";
import { TrayTile } from "./tray-tile.tsx";
import { useTrayRuns } from "./use-tray-runs.ts";

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
