// Handles a callback from a provider. A callback is only a trigger: it saves a ticket that was lost, records progress and wakes the
// run when the job has ended; the run then reads the result from the provider itself.
import { findAttemptWakeup, saveTicket } from "../db/runs/attempts.ts";
import { recordProgress } from "../db/runs/open-runs.ts";
import { Fault } from "../faults.ts";
import type { CallbackRequest } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import { createProviderContext } from "./provider-context.ts";
import type { Services } from "./services.ts";

export type CallbackTarget = { provider: string; run_id: string; job: number; try: number };

export async function handleProviderCallback(
  services: Services,
  target: CallbackTarget,
  request: CallbackRequest,
): Promise<void> {
  const id = { run_id: target.run_id, request_index: target.job, attempt_number: target.try };
  const enabledProvider = services.providers.find(({ provider }) => provider.id === target.provider);
  const callback = await enabledProvider?.provider
    .parseCallback?.(request, createProviderContext(services, enabledProvider, id))
    .catch(() => undefined);
  if (!enabledProvider || !callback) throw new Fault("route_not_found");

  const attempt = await findAttemptWakeup(services.db, id);
  if (!attempt || attempt.provider !== target.provider) throw new Fault("route_not_found");
  const isOutcomeUnknown = attempt.state === "intent" || attempt.state === "unknown";
  // It may have overtaken the answer to the submission, or be the only trace of it.
  if (isOutcomeUnknown) await saveTicket(services.db, id, { ticket: callback.ticket }, 2);
  if (!callback.ended && callback.progress !== undefined) {
    await recordProgress(
      services.db,
      target.run_id,
      callback.progress,
      deriveId(target.run_id, "progress", callback.progress),
    );
  }
  if (callback.ended && attempt.wakeup_id) await services.resolveWakeup(attempt.wakeup_id, "ended");
}
