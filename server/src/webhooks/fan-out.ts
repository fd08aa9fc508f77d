// Reads the log of events on and makes a message for everybody who wants to be told. One process at a time does it; one that
// dies over it leaves nothing half done, because the messages and the place in the log are written together.
import { type EventRow, eventsAfter } from "../db/events.ts";
import type { RunRow } from "../db/runs.ts";
import type { NewDelivery } from "../db/webhook-deliveries.ts";
import { progressTold, readCursor, runsToTell, writeFanOut } from "../db/webhook-fan-out.ts";
import { enabledWebhooks, type WebhookRow } from "../db/webhooks.ts";
import { showEvent } from "../runs/show-event.ts";
import { printBody } from "./body.ts";
import { failingSeconds, type Office } from "./office.ts";
import { deliveryId, routeOf } from "./route.ts";

const BATCH = 500;
/** The progress of a run is told at most this often. */
const PROGRESS_MS = 2_000;
/** What the address of a run is told: how it ended, and nothing else. */
const ENDS = ["run.completed", "run.failed", "run.canceled"];

/** How many events were read; undefined where another process has read them meanwhile. */
export async function fanOut(office: Office): Promise<number | undefined> {
  const from = await readCursor(office.db);
  const events = await eventsAfter(office.db, from, BATCH);
  const last = events.at(-1);
  if (!last) return 0;
  const hooks = await enabledWebhooks(office.db, [...new Set(events.map(({ tenant_id }) => tenant_id))]);
  const runs = await runsToTell(office.db, runIdsOf(events), [...new Set(hooks.map(({ tenant_id }) => tenant_id))]);
  const { kept, told } = await thinProgress(office, events);
  const deliveries = kept.flatMap((event) => messagesOf(office, event, { hooks, runs }));
  const written = await writeFanOut(office.db, {
    ...{ from, to: last, deliveries, told },
    ended: events.filter(({ terminal }) => terminal).map(({ run_id }) => run_id),
    givesUpSeconds: failingSeconds(office),
  });
  return written === undefined ? undefined : events.length;
}

const runIdsOf = (events: EventRow[]) => [...new Set(events.map(({ run_id }) => run_id))];

/** Progress comes as often as providers say something; receivers hear of a run's progress every two seconds at most. */
async function thinProgress({ db }: Office, events: EventRow[]) {
  const ofProgress = events.filter(({ type }) => type === "run.progress");
  const last = await progressTold(db, runIdsOf(ofProgress));
  const isTold = (event: EventRow) => {
    const before = last.get(event.run_id)?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (event.created_at.getTime() - before < PROGRESS_MS) return false;
    last.set(event.run_id, event.created_at);
    return true;
  };
  const kept = events.filter((event) => event.type !== "run.progress" || isTold(event));
  const news = new Set(kept.filter(({ type }) => type === "run.progress").map(({ run_id }) => run_id));
  return { kept, told: [...news].map((run_id) => ({ run_id, told_at: last.get(run_id)! })) };
}

type Wanted = Pick<WebhookRow, "webhook_id" | "tenant_id" | "url" | "events">;
type Known = { hooks: Wanted[]; runs: RunRow[] };

export function messagesOf(office: Pick<Office, "assetUrl">, event: EventRow, { hooks, runs }: Known): NewDelivery[] {
  const isOfRun = event.run_id !== event.event_id;
  const run = runs.find(({ run_id }) => run_id === event.run_id);
  if (isOfRun && !run) return [];
  const wanted = hooks.filter(({ tenant_id, events }) => tenant_id === event.tenant_id && events.includes(event.type));
  const addresses: { webhook_id: string | null; url: string }[] = [
    ...(run?.webhook_url && ENDS.includes(event.type) ? [{ webhook_id: null, url: run.webhook_url }] : []),
    ...wanted,
  ];
  if (addresses.length === 0) return [];
  const body = printBody(showEvent(office, event, run));
  const { tenant_id, event_id, type } = event;
  return addresses.map(({ webhook_id, url }) => ({
    ...{ tenant_id, event_id, type, webhook_id, url, body },
    ...routeOf({ tenant_id, webhook_id, url }),
    delivery_id: deliveryId(event_id, webhook_id),
    run_id: isOfRun ? event.run_id : null,
  }));
}
