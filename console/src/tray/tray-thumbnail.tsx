// The image of a run in the tray, or the icon of its state.
import { CircleDashed, CircleX, File, LoaderCircle } from "lucide-react";
import { Icon } from "../parts/icon.tsx";
import styles from "./tray.module.css";
import type { TrayRun } from "./tray-runs.ts";

/** A completed run without an image has made a file of another kind, or words. */
const ICONS: Record<string, typeof CircleDashed> = { queued: CircleDashed, processing: LoaderCircle, completed: File };

export function TrayThumbnail({ run: { image_url, status } }: { run: TrayRun }) {
  return (
    <span className={styles.thumbnail}>
      {image_url ? <img src={image_url} alt="" width={48} height={36} /> : <Icon of={ICONS[status] ?? CircleX} />}
    </span>
  );
}
