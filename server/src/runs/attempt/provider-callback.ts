// What a provider reports by itself. A callback saves a ticket that was lost, or an outcome that only the callback
// reports, records progress and wakes the run when the job has ended; the run then reads the result by the adapter.
// A notification over an open connection only records progress and wakes the run.
import type { AttemptRef } from "../../db/attempts/attempts.ts";
import { expectResumption, findRequestByTicket } from "../../db/attempts/open-requests.ts";
import { receiveCallback, saveReportedOutcome } from "../../db/attempts/tickets.ts";
import { recordProgress } from "../../db/runs/open-runs.ts";
import { listRunTraces } from "../../db/runs/run-traces.ts";
import { Fault } from "../../faults/faults.ts";
import type { CallbackRequest, JobNotification } from "../../providers/provider.ts";
import { deriveId } from "../core/ids.ts";
import { findEnabledProvider } from "../offers/provider-registry.ts";
import type { AttemptDependencies, AttemptRecords } from "./attempt-dependencies.ts";

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

/**
 * Makes a callback of a provider a part of the trace of its run: a provider knows nothing of that trace. A callback
 * whose trace cannot be read is handled without it.
 */
export async function traceCallback<T>(
  { database, tracing }: Pick<AttemptDependencies, "database" | "tracing">,
  { provider, run_id, request_index, attempt_number }: CallbackTarget,
  handle: () => Promise<T>,
): Promise<T> {
  if (!tracing.isEnabled) return handle();
  const [trace] = await listRunTraces(database, [run_id]).catch(() => []);
  const attributes = {
    "http.request.method": "POST",
    "http.route": "/callbacks/:provider",
    "gesso.run.id": run_id,
    "gesso.provider": provider,
    "gesso.request.index": request_index,
    "gesso.attempt": attempt_number,
  };
  return tracing.inContext(trace?.traceparent, () =>
    tracing.inSpan({ name: "POST /callbacks/:provider", kind: "server", attributes }, handle),
  );
}

/**
 * Handles a notification that a provider pushes over its open connection. It is only a trigger: progress is recorded,
 * and a run whose job has ended is woken to read the result from the provider itself.
 */
export async function handleJobNotification(
  { database, notifications }: Omit<AttemptRecords, "providers">,
  provider: string,
  notification: JobNotification,
): Promise<void> {
  const request = await findRequestByTicket(database, provider, notification.name, notification.value);
  if (!request) return;
  const { progress } = notification;
  if (progress !== undefined)
    await recordProgress(database, request.run_id, progress, deriveId(request.run_id, "progress", progress));
  if (!notification.ended || !request.wakeup_id) return;
  await notifications.resolveWakeup(request.wakeup_id, "ended");
  await expectResumption(database, request);
}
