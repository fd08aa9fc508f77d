// Events that cannot become deliveries: sets them aside with an error in the log, and tries them again later. A retry
// inserts only deliveries that do not exist, so it never sends a message twice.
import type { EventRow } from "../db/event-log.ts";
import { insertMissingDeliveries } from "../db/webhooks/deliveries.ts";
import {
  claimDueSetAsideEvents,
  deleteSetAsideEvent,
  findSetAsideEvent,
  recordSetAsideEvent,
  recordSetAsideReason,
} from "../db/webhooks/set-aside-events.ts";
import { Fault } from "../faults/faults.ts";
import { buildDeliveries, loadFanOutInput } from "./build-deliveries.ts";
import { disableAfterSeconds, type WebhookServices } from "./webhook-service.ts";

const BATCH = 20;
const RETRY_SECONDS = 60 * 60;
const MAX_REASON_LENGTH = 500;

type Dependencies = Pick<WebhookServices, "database" | "assets" | "webhookSettings" | "log">;

/** An unavailable database says nothing about an event. Any other error repeats with the same event. */
export const isDatabaseUnavailable = (thrown: unknown): boolean =>
  thrown instanceof Fault && thrown.code === "dependency_unavailable";

export const setAsideReason = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, MAX_REASON_LENGTH);

export function reportSetAsideEvent({ log }: Pick<Dependencies, "log">, event: EventRow, thrown: unknown): void {
  const { event_id, run_id, tenant_id, type } = event;
  log.error(
    { event_id, run_id, tenant_id, type, err: thrown },
    "a webhook event cannot become deliveries; it was set aside",
  );
}

/** Sets an event aside that a replay could not send. The replay goes on behind it. */
export async function setReplayedEventAside(services: Dependencies, event: EventRow, thrown: unknown): Promise<void> {
  await recordSetAsideEvent(services.database, event, setAsideReason(thrown));
  reportSetAsideEvent(services, event, thrown);
}

/** Tries events that are due again. Returns how many of them became deliveries. */
export async function retrySetAsideEvents(services: Dependencies, signal?: AbortSignal): Promise<number> {
  const { database } = services;
  const due = await claimDueSetAsideEvents(database, { limit: BATCH, retrySeconds: RETRY_SECONDS });
  let delivered = 0;
  for (const place of due) {
    signal?.throwIfAborted();
    const event = await findSetAsideEvent(database, place);
    if (!event) continue;
    try {
      const deliveries = buildDeliveries(services, event, await loadFanOutInput(database, [event]));
      await insertMissingDeliveries(database, deliveries, disableAfterSeconds(services));
      await deleteSetAsideEvent(database, event.event_id);
      delivered++;
    } catch (thrown) {
      if (isDatabaseUnavailable(thrown)) throw thrown;
      await recordSetAsideReason(database, event.event_id, setAsideReason(thrown));
    }
  }
  return delivered;
}
