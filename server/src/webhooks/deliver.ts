// The life of a delivery: tried, and tried again after a while, until it has arrived or nobody expects it to any more.
// Every step may be done again after a crash; how often it was tried stands in PostgreSQL.
import type { HeldDelivery } from "../db/webhook-queue.ts";
import type { Step } from "./attempt.ts";

export type DeliveryEngine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  sleep(seconds: number): Promise<void>;
};

export async function deliver(
  held: HeldDelivery,
  engine: DeliveryEngine,
  attempt: (held: HeldDelivery) => Promise<Step>,
): Promise<void> {
  for (;;) {
    const step = await engine.step("attempt", () => attempt(held));
    if ("isDone" in step) return;
    await engine.sleep(step.waitSeconds);
  }
}
