// What must be done for webhooks beside sending, each by one process at a time: make messages of events, hand them to the
// engine when their turn has come, find those that were lost, give up what nobody takes, and forget what is old.
import { holdLeases } from "../db/leases.ts";
import {
  dispatchDeliveries,
  giveUpDeliveries,
  putBackDeliveries,
  requeueSilentDeliveries,
} from "../db/webhook-queue.ts";
import { tidyWebhooks } from "../db/webhook-tidy.ts";
import { fanOut } from "../webhooks/fan-out.ts";
import { type Office, paceOf } from "../webhooks/office.ts";
import { workReplays } from "../webhooks/replay.ts";
import type { Ingress } from "./ingress.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 15;
const BATCH = 500;
const AT_ONCE = 200;

export function startWebhookDuties(office: Office, ingress: Ingress, holder: string): Pick<Loop, "stop"> {
  const { db, log } = office;
  const duty = (name: string, everyMs: number, work: () => Promise<boolean>) =>
    startLoop(
      name,
      everyMs,
      async () => {
        const [mine] = await holdLeases(db, holder, [`duty/webhooks/${name}`], LEASE_SECONDS);
        return mine ? work() : false;
      },
      log,
    );
  const loops = [
    duty("fan-out", 250, async () => (await fanOut(office)) !== 0),
    duty("dispatch", 250, () => dispatch(office, ingress)),
    duty("replay", 1000, () => workReplays(office)),
    duty("silent", 2000, async () => {
      const lost = await requeueSilentDeliveries(db, BATCH);
      if (lost > 0) log.warn({ deliveries: lost }, "webhook deliveries went silent and are started anew");
      return lost + (await giveUpDeliveries(db, BATCH)) > 0;
    }),
    duty("tidy", 10 * 60 * 1000, async () => {
      await tidyWebhooks(db, office.settings.WEBHOOK_RETENTION_DAYS);
      return false;
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function dispatch(office: Office, ingress: Ingress): Promise<boolean> {
  const batch = await dispatchDeliveries(office.db, paceOf(office), AT_ONCE);
  const results = await Promise.allSettled(batch.map((held) => ingress.startDelivery(held)));
  const failed = batch.filter((_, index) => results[index]!.status === "rejected");
  if (failed.length > 0) {
    office.log.warn({ deliveries: failed.length }, "the engine did not take webhook deliveries; they wait");
    await putBackDeliveries(office.db, failed);
  }
  return batch.length > failed.length;
}
