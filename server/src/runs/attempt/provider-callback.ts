// Handles a callback from a provider: saves a ticket that was lost, or an outcome that only the callback reports,
// records progress and wakes the run when the job has ended. The run then reads the result through the adapter.

import type { AttemptRef } from "../../db/attempts/attempts.ts";
import { saveReportedOutcome } from "../../db/attempts/reported-outcomes.ts";
import { receiveCallback } from "../../db/attempts/tickets.ts";
import { recordProgress } from "../../db/runs/open-runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { CallbackRequest } from "../../providers/provider.ts";
import { deriveId } from "../core/ids.ts";
import { findEnabledProvider } from "../offers/provider-registry.ts";
import type { AttemptRecords } from "./attempt-dependencies.ts";

export type CallbackTarget = AttemptRef & { provider: string };

const POLL_AFTER_CALLBACK_SECONDS = 2;

export async function handleProviderCallback(
  services: AttemptRecords,
  target: CallbackTarget,
  request: CallbackRequest,
): Promise<void> {
  const { database, providers, notifications } = services;
  const enabledProvider = findEnabledProvider(services, target.provider);
  const callback = await enabledProvider?.provider
    .parseCallback?.(request, providers.createContext(enabledProvider, target))
    .catch(() => undefined);
  if (!enabledProvider || !callback) throw new Fault("route_not_found");

  const { ticket, outcome } = callback;
  const reported = { ...ticket, ...outcome };
  const attempt = await receiveCallback(database, target, reported, POLL_AFTER_CALLBACK_SECONDS);
  if (!attempt || attempt.provider !== target.provider) throw new Fault("route_not_found");
  if (outcome && !attempt.is_saved) await saveReportedOutcome(database, target, { ticket, outcome });
  if (!callback.ended && callback.progress !== undefined) {
    const eventId = deriveId(target.run_id, "progress", callback.progress);
    await recordProgress(database, target.run_id, callback.progress, eventId);
  }
  if (callback.ended && attempt.wakeup_id)
    await notifications.resolveWakeup(attempt.wakeup_id, outcome ? "ended" : "called_back");
}
