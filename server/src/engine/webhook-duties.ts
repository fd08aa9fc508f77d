// Background duties of webhooks, each executed by one process at a time under a lease: fan out events to deliveries,
// dispatch due deliveries to the engine, process replays, requeue lost deliveries, and delete old ones.
import {
  dispatchDeliveries,
  exhaustExpiredDeliveries,
  requeueExpiredDeliveries,
  returnDeliveriesToQueue,
} from "../db/webhooks/delivery-queue.ts";
import { runWebhookMaintenance } from "../db/webhooks/maintenance.ts";
import { createFanOut } from "../webhooks/fan-out.ts";
import { processReplays } from "../webhooks/replay.ts";
import { retrySetAsideEvents } from "../webhooks/set-aside-events.ts";
import { deliveryLimits, type WebhookServices } from "../webhooks/webhook-service.ts";
import { startDuty } from "./duty.ts";
import type { EngineClient } from "./engine-client.ts";
import type { Loop } from "./loop.ts";

const BATCH = 500;
const DISPATCH_BATCH = 200;
/** After fewer events than this, the next turn of the fan-out waits, so that it reads the events of many runs. */
const MANY_EVENTS = 100;

export function startWebhookDuties(
  services: WebhookServices,
  engineClient: EngineClient,
  holder: string,
): Pick<Loop, "stop"> {
  const { database, log } = services;
  const duty = (name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<boolean>) =>
    startDuty({ ...services, holder }, { name: `duty/webhooks/${name}`, intervalMs, work });
  const fanOut = createFanOut(services);
  const loops = [
    duty("fan-out", 100, async () => ((await fanOut()) ?? MANY_EVENTS) >= MANY_EVENTS),
    duty("set-aside", 30_000, async (signal) => (await retrySetAsideEvents(services, signal)) > 0),
    duty("dispatch", 250, () => startDeliveries(services, engineClient)),
    duty("replay", 1000, (signal) => processReplays(services, signal)),
    duty("silent", 2000, async () => {
      const lost = await requeueExpiredDeliveries(database, BATCH);
      if (lost > 0) log.warn({ deliveries: lost }, "webhook delivery claims expired; deliveries requeued");
      return lost + (await exhaustExpiredDeliveries(database, BATCH)) > 0;
    }),
    duty("tidy", 10 * 60 * 1000, () =>
      runWebhookMaintenance(database, services.webhookSettings.WEBHOOK_RETENTION_DAYS),
    ),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function startDeliveries(services: WebhookServices, engineClient: EngineClient): Promise<boolean> {
  const batch = await dispatchDeliveries(services.database, deliveryLimits(services), DISPATCH_BATCH);
  const results = await Promise.allSettled(batch.map((claim) => engineClient.startDelivery(claim)));
  const failed = batch.filter((_, index) => results[index]!.status === "rejected");
  if (failed.length > 0) {
    services.log.warn(
      { deliveries: failed.length },
      "starting webhook deliveries failed; deliveries returned to the queue",
    );
    await returnDeliveriesToQueue(services.database, failed);
  }
  return batch.length > failed.length;
}
