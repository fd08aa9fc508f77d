// Replays a range of the event log to one webhook endpoint, in batches. Messages that were never sent are included; ids
// stay the same.

import { listRunsWithWebhooks } from "../db/runs/event-runs.ts";
import {
  findDeliveryStatuses,
  insertMissingDeliveries,
  type NewDelivery,
  reopenDeliveries,
} from "../db/webhooks/deliveries.ts";
import { findWebhook } from "../db/webhooks/endpoints.ts";
import { advanceReplay, listEventsToReplay, listOpenReplays, type ReplayRow } from "../db/webhooks/replays.ts";
import { buildDeliveries } from "./build-deliveries.ts";
import { maxAttempts } from "./retry-schedule.ts";
import { isDatabaseUnavailable, setReplayedEventAside } from "./set-aside-events.ts";
import { disableAfterSeconds, type WebhookServices } from "./webhook-service.ts";

const BATCH = 200;
const MAX_REPLAYS_PER_PASS = 10;

type Dependencies = Pick<WebhookServices, "database" | "assets" | "webhookSettings" | "log">;

/** Returns whether there is more to do at once. */
export async function processReplays(services: Dependencies, signal?: AbortSignal): Promise<boolean> {
  const replays = await listOpenReplays(services.database, MAX_REPLAYS_PER_PASS);
  for (const replay of replays) {
    signal?.throwIfAborted();
    await processReplayBatch(services, replay).catch((thrown) => {
      if (isDatabaseUnavailable(thrown)) throw thrown;
      // The other replays go on.
      services.log.error({ replay_id: replay.replay_id, err: thrown }, "a webhook replay failed; it will be retried");
    });
  }
  return replays.length > 0;
}

async function processReplayBatch(services: Dependencies, replay: ReplayRow): Promise<void> {
  const endpoint = await findWebhook(services.database, replay.tenant_id, replay.webhook_id);
  const types = (endpoint?.enabled ? endpoint.events : []).filter((type) => maxAttempts(type) > 1);
  const events = types.length > 0 ? await listEventsToReplay(services.database, replay, types, BATCH) : [];
  const runs = await listRunsWithWebhooks(
    services.database,
    events.map(({ run_id }) => run_id),
    [replay.tenant_id],
  );
  const messages: NewDelivery[] = [];
  for (const event of events) {
    try {
      const deliveries = buildDeliveries(services, event, { endpoints: endpoint ? [endpoint] : [], runs });
      messages.push(...deliveries.filter(({ webhook_id }) => webhook_id === replay.webhook_id));
    } catch (thrown) {
      await setReplayedEventAside(services, event, thrown);
    }
  }
  const requeuedCount = await requeueDeliveries(services, replay, messages);
  const isDone = events.length < BATCH;
  await advanceReplay(services.database, replay.replay_id, {
    ...(events.at(-1) ?? replay),
    events: requeuedCount,
    isDone,
  });
}

/** Inserts missing deliveries and reopens finished ones; with only_failed, delivered ones are left alone. */
async function requeueDeliveries(
  services: Dependencies,
  { tenant_id, only_failed }: ReplayRow,
  messages: NewDelivery[],
) {
  const statuses = await findDeliveryStatuses(
    services.database,
    tenant_id,
    messages.map(({ delivery_id }) => delivery_id),
  );
  const missing = messages.filter(({ delivery_id }) => !statuses.has(delivery_id));
  const finished = messages.filter(({ delivery_id }) => {
    const status = statuses.get(delivery_id);
    return status !== undefined && status !== "pending" && !(only_failed && status === "delivered");
  });
  if (missing.length > 0) await insertMissingDeliveries(services.database, missing, disableAfterSeconds(services));
  const reopened =
    finished.length > 0
      ? await reopenDeliveries(services.database, tenant_id, finished, disableAfterSeconds(services))
      : [];
  return missing.length + reopened.length;
}
