// What must be done for webhooks beside sending, each by one process at a time: make messages of events, hand them to the
// engine when their turn has come, find those that were lost, give up what nobody takes, and forget what is old.
import { acquireLeases } from "../db/leases.ts";
import {
  dispatchDeliveries,
  exhaustExpiredDeliveries,
  requeueExpiredDeliveries,
  returnDeliveriesToQueue,
} from "../db/webhooks/delivery-queue.ts";
import { runWebhookMaintenance } from "../db/webhooks/maintenance.ts";
import { fanOut } from "../webhooks/fan-out.ts";
import { processReplays } from "../webhooks/replay.ts";
import { deliveryLimits, type Office } from "../webhooks/webhook-service.ts";
import type { EngineClient } from "./engine-client.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 15;
const BATCH = 500;
const DISPATCH_BATCH = 200;

export function startWebhookDuties(webhookService: Office, ingress: EngineClient, holder: string): Pick<Loop, "stop"> {
  const { db, log } = webhookService;
  const duty = (name: string, everyMs: number, work: () => Promise<boolean>) =>
    startLoop(
      name,
      everyMs,
      async () => {
        const [heldLease] = await acquireLeases(db, holder, [`duty/webhooks/${name}`], LEASE_SECONDS);
        return heldLease ? work() : false;
      },
      log,
    );
  const loops = [
    duty("fan-out", 250, async () => (await fanOut(webhookService)) !== 0),
    duty("dispatch", 250, () => startDeliveries(webhookService, ingress)),
    duty("replay", 1000, () => processReplays(webhookService)),
    duty("silent", 2000, async () => {
      const lost = await requeueExpiredDeliveries(db, BATCH);
      if (lost > 0) log.warn({ deliveries: lost }, "webhook delivery claims expired; deliveries requeued");
      return lost + (await exhaustExpiredDeliveries(db, BATCH)) > 0;
    }),
    duty("tidy", 10 * 60 * 1000, async () => {
      await runWebhookMaintenance(db, webhookService.settings.WEBHOOK_RETENTION_DAYS);
      return false;
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function startDeliveries(webhookService: Office, ingress: EngineClient): Promise<boolean> {
  const batch = await dispatchDeliveries(webhookService.db, deliveryLimits(webhookService), DISPATCH_BATCH);
  const results = await Promise.allSettled(batch.map((claim) => ingress.startDelivery(claim)));
  const failed = batch.filter((_, index) => results[index]!.status === "rejected");
  if (failed.length > 0) {
    webhookService.log.warn(
      { deliveries: failed.length },
      "starting webhook deliveries failed; deliveries returned to the queue",
    );
    await returnDeliveriesToQueue(webhookService.db, failed);
  }
  return batch.length > failed.length;
}
