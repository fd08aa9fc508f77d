// Finds what was lost, from outside the engine: runs that went silent start anew under a new epoch, runs past their
// deadline are ended, and work that must follow a change is done.
import { endRun, findOverdue, requeueLost } from "../db/open-runs.ts";
import { addToOutbox, dropFromOutbox, type OutboxItem, takeFromOutbox } from "../db/outbox.ts";
import { Fault } from "../faults.ts";
import { failureOf } from "../providers/http.ts";
import type { Ticket } from "../providers/provider.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { providerContext } from "./provider-context.ts";

const BATCH = 500;
/** The run itself gives up at its deadline and knows more about why; the watchdog only follows. */
const GRACE_SECONDS = 20;

export async function requeueSilent(house: House): Promise<number> {
  const lost = await requeueLost(house.db, BATCH);
  if (lost.length > 0) {
    house.log.warn({ runs: lost.length }, "runs went silent and are started anew");
    house.queued.say("queued");
  }
  return lost.length;
}

export async function endOverdue(house: House): Promise<number> {
  const overdue = await findOverdue(house.db, GRACE_SECONDS, BATCH);
  for (const { run_id, provider, ticket } of overdue) {
    const error = new Fault("run_timeout").body();
    const ended = await endRun(house.db, { run_id }, { status: "failed", error }, idWithin(run_id, "end"));
    if (!ended) continue;
    house.ended.say(run_id);
    if (provider && ticket) {
      await addToOutbox(house.db, {
        outbox_id: house.newId(),
        kind: "cancel_job",
        payload: { run_id, provider, ticket },
      });
    }
  }
  return overdue.length;
}

export async function workOutbox(house: House): Promise<number> {
  const items = await takeFromOutbox(house.db, BATCH);
  for (const item of items) {
    await perform(house, item).then(
      () => dropFromOutbox(house.db, item.outbox_id),
      (thrown) => house.log.warn({ kind: item.kind, tries: item.tries, err: thrown }, "will be tried again"),
    );
  }
  return items.length;
}

async function perform(house: House, { kind, payload }: OutboxItem): Promise<void> {
  if (kind === "delete_files") await house.storage.delete(payload.keys as string[]);
  if (kind === "cancel_job") {
    const live = house.providers.find(({ provider }) => provider.id === payload.provider);
    if (!live?.provider.cancel) return;
    const context = providerContext(house, live, { run_id: String(payload.run_id), job: 0, try: 1 });
    await live.provider.cancel(payload.ticket as Ticket, context).catch((thrown) => {
      // A provider that says no has nothing left to cancel.
      if (failureOf(thrown).kind !== "refused") throw thrown;
    });
  }
}
