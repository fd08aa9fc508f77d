// Makes an attempt to deliver a webhook a part of the trace of its run.
import { listRunTraces } from "../db/runs/run-traces.ts";
import type { DeliveryClaim, DueDelivery } from "../db/webhooks/delivery-queue.ts";
import type { WebhookServices } from "./webhook-service.ts";

type Dependencies = Pick<WebhookServices, "database" | "tracing" | "log">;

/** A delivery whose trace cannot be read is sent without it. */
export async function traceDelivery<T>(
  { database, tracing, log }: Dependencies,
  { delivery_id }: DeliveryClaim,
  { run_id, type, attempts }: Pick<DueDelivery, "run_id" | "type" | "attempts">,
  send: () => Promise<T>,
): Promise<T> {
  if (!tracing.isEnabled || run_id === null) return send();
  const [trace] = await listRunTraces(database, [run_id]).catch((thrown) => {
    log.warn({ err: thrown }, "reading the trace of a run failed");
    return [];
  });
  const attributes = {
    "messaging.system": "gesso",
    "messaging.destination.name": "gesso.webhooks",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.message.id": delivery_id,
    "gesso.run.id": run_id,
    "gesso.event.type": type,
    "gesso.webhook.attempt": attempts + 1,
  };
  return tracing.inContext(trace?.traceparent, () =>
    tracing.inSpan({ name: "process gesso.webhooks", kind: "consumer", attributes }, send),
  );
}
