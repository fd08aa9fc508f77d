// Sends a range of the log to one webhook again, a batch at a time: what never was sent as what was, under the same ids.
import { insertMissing, type NewDelivery, reopenDeliveries, statusOf } from "../db/webhook-deliveries.ts";
import { runsToTell } from "../db/webhook-fan-out.ts";
import { eventsToReplay, moveReplay, openReplays, type ReplayRow } from "../db/webhook-replays.ts";
import { findWebhook } from "../db/webhooks.ts";
import { messagesOf } from "./fan-out.ts";
import { failingSeconds, type Office } from "./office.ts";
import { attemptsOf } from "./schedule.ts";

const BATCH = 200;
const AT_A_TIME = 10;

/** Whether there is more to do at once. */
export async function workReplays(office: Office): Promise<boolean> {
  const replays = await openReplays(office.db, AT_A_TIME);
  for (const replay of replays) await workReplay(office, replay);
  return replays.length > 0;
}

async function workReplay(office: Office, replay: ReplayRow): Promise<void> {
  const hook = await findWebhook(office.db, replay.tenant_id, replay.webhook_id);
  const types = (hook?.enabled ? hook.events : []).filter((type) => attemptsOf(type) > 1);
  const events = types.length > 0 ? await eventsToReplay(office.db, replay, types, BATCH) : [];
  const runs = await runsToTell(
    office.db,
    events.map(({ run_id }) => run_id),
    [replay.tenant_id],
  );
  const messages = events
    .flatMap((event) => messagesOf(office, event, { hooks: hook ? [hook] : [], runs }))
    .filter(({ webhook_id }) => webhook_id === replay.webhook_id);
  const sent = await sendAgain(office, replay, messages);
  const isDone = events.length < BATCH;
  await moveReplay(office.db, replay.replay_id, { ...(events.at(-1) ?? replay), events: sent, isDone });
}

/** What waits already is left to wait; what has arrived is left alone where only what failed is wanted. */
async function sendAgain(office: Office, { tenant_id, only_failed }: ReplayRow, messages: NewDelivery[]) {
  const known = await statusOf(
    office.db,
    tenant_id,
    messages.map(({ delivery_id }) => delivery_id),
  );
  const missing = messages.filter(({ delivery_id }) => !known.has(delivery_id));
  const again = messages.filter(({ delivery_id }) => {
    const status = known.get(delivery_id);
    return status !== undefined && status !== "pending" && !(only_failed && status === "delivered");
  });
  if (missing.length > 0) await insertMissing(office.db, missing, failingSeconds(office));
  const reopened = again.length > 0 ? await reopenDeliveries(office.db, tenant_id, again, failingSeconds(office)) : [];
  return missing.length + reopened.length;
}
