// How many runs are open, and whether the page hears of their progress.
import { WifiOff } from "lucide-react";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./tray.module.css";
import type { TrayRun } from "./tray-runs.ts";
import { useIsConnected } from "./use-tray-runs.ts";

export function TraySummary({ open }: { open: readonly TrayRun[] }) {
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
