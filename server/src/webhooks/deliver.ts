// The durable loop of one delivery: attempt, sleep, attempt again, until it is delivered or given up. Each step is
// idempotent after a crash; the attempt count is in PostgreSQL.
import type { DeliveryClaim } from "../db/webhooks/delivery-queue.ts";
import type { DeliveryStep } from "./delivery-attempt.ts";

export type DeliveryEngine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  sleep(seconds: number): Promise<void>;
};

export async function runDelivery(
  claim: DeliveryClaim,
  engine: DeliveryEngine,
  attempt: (claim: DeliveryClaim) => Promise<DeliveryStep>,
): Promise<void> {
  for (;;) {
    const step = await engine.step("attempt", () => attempt(claim));
    if ("isDone" in step) return;
    await engine.sleep(step.waitSeconds);
  }
}
