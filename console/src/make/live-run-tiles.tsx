// The tiles of a run, with what live events have changed since the list was read.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runQuery } from "../api/queries.ts";
import { tileCountOfRun } from "../parts/run-shape.ts";
import { RunTile } from "../parts/run-tile.tsx";

export function LiveRunTiles({ run }: { run: Run }) {
  const { data = run } = useQuery({ ...runQuery(run.run_id), enabled: false });
  const latest = data.updated_at < run.updated_at ? run : data;
  return Array.from({ length: tileCountOfRun(latest) }, (_, index) => (
    // A run's files keep their order.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <RunTile key={index} run={latest} index={index} />
  ));
}
