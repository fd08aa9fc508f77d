// Sends a range of the log to one webhook again, a batch at a time: what never was sent as what was, under the same ids.
import {
  findDeliveryStatuses,
  insertMissingDeliveries,
  type NewDelivery,
  reopenDeliveries,
} from "../db/webhooks/deliveries.ts";
import { findWebhook } from "../db/webhooks/endpoints.ts";
import { listRunsWithWebhooks } from "../db/webhooks/fan-out.ts";
import { advanceReplay, listEventsToReplay, listOpenReplays, type ReplayRow } from "../db/webhooks/replays.ts";
import { buildDeliveries } from "./fan-out.ts";
import { maxAttempts } from "./retry-schedule.ts";
import { disableAfterSeconds, type Office } from "./webhook-service.ts";

const BATCH = 200;
const MAX_REPLAYS_PER_PASS = 10;

/** Whether there is more to do at once. */
export async function processReplays(office: Office): Promise<boolean> {
  const replays = await listOpenReplays(office.db, MAX_REPLAYS_PER_PASS);
  for (const replay of replays) await processReplayBatch(office, replay);
  return replays.length > 0;
}

async function processReplayBatch(office: Office, replay: ReplayRow): Promise<void> {
  const hook = await findWebhook(office.db, replay.tenant_id, replay.webhook_id);
  const types = (hook?.enabled ? hook.events : []).filter((type) => maxAttempts(type) > 1);
  const events = types.length > 0 ? await listEventsToReplay(office.db, replay, types, BATCH) : [];
  const runs = await listRunsWithWebhooks(
    office.db,
    events.map(({ run_id }) => run_id),
    [replay.tenant_id],
  );
  const messages = events
    .flatMap((event) => buildDeliveries(office, event, { hooks: hook ? [hook] : [], runs }))
    .filter(({ webhook_id }) => webhook_id === replay.webhook_id);
  const sent = await requeueDeliveries(office, replay, messages);
  const isDone = events.length < BATCH;
  await advanceReplay(office.db, replay.replay_id, { ...(events.at(-1) ?? replay), events: sent, isDone });
}

/** What waits already is left to wait; what has arrived is left alone where only what failed is wanted. */
async function requeueDeliveries(office: Office, { tenant_id, only_failed }: ReplayRow, messages: NewDelivery[]) {
  const known = await findDeliveryStatuses(
    office.db,
    tenant_id,
    messages.map(({ delivery_id }) => delivery_id),
  );
  const missing = messages.filter(({ delivery_id }) => !known.has(delivery_id));
  const again = messages.filter(({ delivery_id }) => {
    const status = known.get(delivery_id);
    return status !== undefined && status !== "pending" && !(only_failed && status === "delivered");
  });
  if (missing.length > 0) await insertMissingDeliveries(office.db, missing, disableAfterSeconds(office));
  const reopened =
    again.length > 0 ? await reopenDeliveries(office.db, tenant_id, again, disableAfterSeconds(office)) : [];
  return missing.length + reopened.length;
}
