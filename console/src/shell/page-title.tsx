// The title of the browser's tab: the progress of open runs, the page and the product.
import { text } from "../text/text.ts";
import { overallProgress } from "../tray/tray-runs.ts";
import { useTrayRuns } from "../tray/use-tray-runs.ts";

export function PageTitle({ title }: { title: string }) {
  const progress = overallProgress(useTrayRuns());
  const lead = progress === undefined ? "" : `${Math.round(progress * 100)} % · `;
  return <title>{`${lead}${title} · ${text.product}`}</title>;
}
