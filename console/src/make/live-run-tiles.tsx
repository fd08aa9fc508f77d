// The tiles of a run, with what live events have changed since the list was read.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runQuery } from "../api/queries.ts";
import { tileCountOfRun } from "../parts/run-shape.ts";
import { RunTile } from "../parts/run-tile.tsx";
import styles from "./result-tile.module.css";
import { TileActions } from "./tile-actions.tsx";

export function LiveRunTiles({ run }: { run: Run }) {
  const { data = run } = useQuery({ ...runQuery(run.run_id), enabled: false });
  const latest = data.updated_at < run.updated_at ? run : { ...data, starred: data.starred ?? run.starred ?? false };
  return Array.from({ length: tileCountOfRun(latest) }, (_, index) => (
    // A run's files keep their order.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <div key={index} className={styles.result}>
      <RunTile run={latest} index={index} />
      {latest.status === "completed" && <TileActions run={latest} index={index} />}
    </div>
  ));
}
