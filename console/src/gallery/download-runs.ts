// Downloads the files of runs, one after the other.
import type { Run } from "@gesso/client";

export function downloadRuns(runs: readonly Run[]): void {
  for (const { run_id, outputs } of runs)
    for (const { url } of outputs.filter(({ role }) => role === "result")) {
      const link = document.createElement("a");
      link.href = url;
      link.download = run_id;
      link.click();
    }
}
