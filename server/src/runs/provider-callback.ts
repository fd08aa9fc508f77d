// Handles a callback from a provider. A callback is only a trigger: it saves a ticket that was lost, records progress
// and wakes the run when the job has ended; the run then reads the result from the provider itself.
import { type AttemptRef, saveTicket } from "../db/runs/attempts.ts";
import { findAttemptWakeup } from "../db/runs/open-requests.ts";
import { recordProgress } from "../db/runs/open-runs.ts";
import { Fault } from "../faults.ts";
import type { CallbackRequest } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import { findEnabledProvider } from "./provider-registry.ts";
import type { Services } from "./services.ts";

export type CallbackTarget = AttemptRef & { provider: string };

const POLL_AFTER_CALLBACK_SECONDS = 2;

export async function handleProviderCallback(
  services: Pick<Services, "database" | "providers" | "notifications">,
  target: CallbackTarget,
  request: CallbackRequest,
): Promise<void> {
  const { database, providers, notifications } = services;
  const enabledProvider = findEnabledProvider(services, target.provider);
  const callback = await enabledProvider?.provider
    .parseCallback?.(request, providers.createContext(enabledProvider, target))
    .catch(() => undefined);
  if (!enabledProvider || !callback) throw new Fault("route_not_found");

  const attempt = await findAttemptWakeup(database, target);
  if (!attempt || attempt.provider !== target.provider) throw new Fault("route_not_found");
  const isOutcomeUnknown = attempt.state === "intent" || attempt.state === "unknown";
  // The callback may arrive before the response to the submission, or be the only trace of the job.
  if (isOutcomeUnknown) await saveTicket(database, target, { ticket: callback.ticket }, POLL_AFTER_CALLBACK_SECONDS);
  if (!callback.ended && callback.progress !== undefined) {
    const eventId = deriveId(target.run_id, "progress", callback.progress);
    await recordProgress(database, target.run_id, callback.progress, eventId);
  }
  if (callback.ended && attempt.wakeup_id) await notifications.resolveWakeup(attempt.wakeup_id, "ended");
}
