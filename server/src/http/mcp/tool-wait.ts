// How long a tool call waits for its run, and the progress that it reports meanwhile if the client asked for it.
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunRow } from "../../db/runs/runs.ts";
import type { HttpServices } from "../http-services.ts";
import type { Wait } from "../pipeline.ts";

/** Clients give up after 60 s or later. */
export const MAX_WAIT_SECONDS = 45;
/** Progress must rise with every notification, also if a provider reports none. */
const LEAST_STEP = 0.001;

export function toolWait({ runs }: Pick<HttpServices, "runs">, context: ServerContext): Wait {
  const seconds = Math.min(MAX_WAIT_SECONDS, runs.settings.timeouts.syncSeconds);
  if (context.mcpReq._meta?.progressToken === undefined) return { seconds };
  let progress = 0;
  return {
    seconds,
    async onProgress(run) {
      progress = Math.max(progress + LEAST_STEP, Math.min(run.progress, 1));
      await reportProgress(context, run, progress);
    },
  };
}

async function reportProgress({ mcpReq }: ServerContext, run: RunRow, progress: number): Promise<void> {
  const message = run.status === "queued" ? "queued" : (run.phase ?? run.status);
  const params = { progressToken: mcpReq._meta!.progressToken!, progress, total: 1, message };
  // A client that is gone is noticed by the signal.
  await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
}
