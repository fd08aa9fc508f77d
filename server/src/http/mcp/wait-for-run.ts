// Waits for the end of a run on behalf of a tool call, and reports progress if the client asked for it. A client that
// goes away ends the wait, not the run.
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RequestContext } from "../../access/request-context.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { requireOwnRun } from "../../library/operation-services.ts";
import { isRunOpen } from "../../runs/render-run.ts";
import type { McpRequest, McpServices } from "./mcp-request.ts";

/** Clients give up after 60 s or later. */
export const MAX_WAIT_SECONDS = 45;
const PROGRESS_SECONDS = 1;
/** Progress must rise with every notification, also if a provider reports none. */
const LEAST_STEP = 0.001;

type WaitingCall = { mcp: McpRequest; request: RequestContext; context: ServerContext };

/** Returns the run as it is at the end of the wait. It is still open if it takes longer. */
export async function waitForRun(
  { runs, runWaiter }: Pick<McpServices, "runs" | "runWaiter">,
  { mcp, request, context }: WaitingCall,
  row: RunRow,
): Promise<RunRow> {
  const { signal, _meta } = context.mcpReq;
  const releaseSlot = mcp.admitted.acquireWaitSlot();
  if (!releaseSlot || signal.aborted) {
    releaseSlot?.();
    return row;
  }
  const { clock, settings } = runs;
  const end = clock.now() + Math.min(MAX_WAIT_SECONDS, settings.timeouts.syncSeconds) * 1000;
  const hasToken = _meta?.progressToken !== undefined;
  let progress = 0;
  let current = row;
  try {
    while (isRunOpen(current) && !signal.aborted && clock.now() < end) {
      const left = (end - clock.now()) / 1000;
      if (hasToken) {
        progress = Math.max(progress + LEAST_STEP, Math.min(current.progress, 1));
        await reportProgress(context, current, progress);
      }
      await runWaiter.waitForEnd(row.run_id, hasToken ? Math.min(left, PROGRESS_SECONDS) : left, signal);
      current = await requireOwnRun(request, row.run_id);
    }
    return current;
  } finally {
    releaseSlot();
  }
}

async function reportProgress({ mcpReq }: ServerContext, run: RunRow, progress: number): Promise<void> {
  const message = run.status === "queued" ? "queued" : (run.phase ?? run.status);
  const params = { progressToken: mcpReq._meta!.progressToken!, progress, total: 1, message };
  // A client that is gone is noticed by the signal.
  await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
}
