// One delivery attempt: waits for a slot at the destination, sends the message, records the result. The engine journals
// only the delay until the next attempt; secrets are decrypted inside the step and never journalled.
import { listRunTraces } from "../db/runs/run-traces.ts";
import {
  acquireDestinationSlot,
  type DeliveryClaim,
  type DueDelivery,
  extendDeliveryClaim,
  recordDeliveryAttempt,
  renewDeliveryClaim,
  requeueLostDeliveries,
} from "../db/webhooks/delivery-queue.ts";
import { disableWebhook } from "../db/webhooks/endpoints.ts";
import { Fault } from "../faults/faults.ts";
import { connectionErrorCode } from "../outbound/webhook-http-client.ts";
import { buildMessageHeaders } from "./message-headers.ts";
import { type DeliveryDecision, decideDelivery, type ReceiverResponse } from "./retry-schedule.ts";
import { findSigningSecrets } from "./signing-secrets.ts";
import { deliveryLimits, disableAfterSeconds, type WebhookServices } from "./webhook-service.ts";

export type DeliveryStep = { isDone: true } | { waitSeconds: number };

const MAX_SLOT_WAIT_SECONDS = 60;
const MAX_BREAKER_SECONDS = 300;
/** A delivery that is due within this time is sent now; timers are not more precise. */
const DUE_TOLERANCE_SECONDS = 0.05;

type Dependencies = Omit<WebhookServices, "assets" | "keysUrl">;

export async function attemptDelivery(services: Dependencies, claim: DeliveryClaim): Promise<DeliveryStep> {
  const { database, clock } = services;
  const delivery = await renewDeliveryClaim(database, claim);
  if (!delivery?.body) return { isDone: true };
  if (delivery.is_suspended) {
    // The queue dispatches it again when the tenant is active. The new epoch makes that another invocation.
    await requeueLostDeliveries(database, [{ id: claim.delivery_id, epoch: claim.epoch }]);
    return { isDone: true };
  }
  if (delivery.seconds_until_due > DUE_TOLERANCE_SECONDS) return waitFor(services, claim, delivery.seconds_until_due);
  const slotSeconds = delivery.has_slot
    ? 0
    : await acquireDestinationSlot(database, claim, delivery, deliveryLimits(services));
  if (slotSeconds > 0) return waitFor(services, claim, Math.min(slotSeconds, MAX_SLOT_WAIT_SECONDS));
  const started_at = new Date(clock.now());
  const startedAt = clock.monotonic();
  const { body } = delivery;
  const result = await traceDelivery(services, claim, delivery, () =>
    sendMessage(services, claim, { ...delivery, body }),
  );
  const duration_ms = Math.round(clock.monotonic() - startedAt);
  return recordAttempt(services, claim, delivery, { ...result, started_at, duration_ms });
}

async function waitFor({ database }: Dependencies, claim: DeliveryClaim, seconds: number): Promise<DeliveryStep> {
  await extendDeliveryClaim(database, claim, seconds);
  return { waitSeconds: seconds };
}

type SendResult = { response: ReceiverResponse; text: string | null };

async function sendMessage(
  services: Dependencies,
  claim: DeliveryClaim,
  delivery: DueDelivery & { body: string },
): Promise<SendResult> {
  const secrets = await findSigningSecrets(services, { ...claim, ...delivery }).catch(asUnreadable);
  if (!secrets) return { response: { error: "secret_unreadable" }, text: null };
  try {
    const message = { ...claim, ...delivery, attempt: delivery.attempts + 1 };
    const { status, retryAfter, text } = await services.httpClient.post(delivery.url, {
      body: delivery.body,
      timeoutSeconds: services.webhookSettings.WEBHOOK_TIMEOUT_SECONDS,
      headers: buildMessageHeaders(services, secrets, message),
    });
    return { response: { status, retryAfter }, text };
  } catch (thrown) {
    return { response: { error: connectionErrorCode(thrown) }, text: null };
  }
}

/**
 * The secret was encrypted with another key. The attempt fails with `secret_unreadable`; no message is sent unsigned.
 */
function asUnreadable(thrown: unknown): undefined {
  if (!(thrown instanceof Fault && thrown.details.reason === "secret_unreadable")) throw thrown;
}

type FinishedAttempt = SendResult & { started_at: Date; duration_ms: number };

async function recordAttempt(
  services: Dependencies,
  claim: DeliveryClaim,
  delivery: DueDelivery,
  { response, text, ...times }: FinishedAttempt,
): Promise<DeliveryStep> {
  const { database, clock, webhookSettings: settings } = services;
  const decision = decideDelivery(response, {
    ...delivery,
    deliveryId: claim.delivery_id,
    tried: delivery.attempt_count + 1,
    now: clock.now(),
  });
  const waitSeconds = decision.status === "pending" ? decision.waitSeconds * settings.WEBHOOK_TIME_SCALE : undefined;
  const recorded = await recordDeliveryAttempt(database, claim, {
    attempt: {
      ...{ attempt: delivery.attempts + 1, ...times, response: text },
      status: "status" in response ? response.status : null,
      error: "error" in response ? response.error : null,
    },
    status: decision.status,
    waitSeconds,
    breaker: {
      failures: settings.WEBHOOK_BREAKER_FAILURES,
      seconds: settings.WEBHOOK_BREAKER_SECONDS * settings.WEBHOOK_TIME_SCALE,
      longest: MAX_BREAKER_SECONDS * settings.WEBHOOK_TIME_SCALE,
    },
  });
  const isFailing = (recorded?.failing_for ?? 0) > disableAfterSeconds(services);
  await disableFailingWebhook(services, claim, delivery, { decision, isFailing });
  return waitSeconds === undefined ? { isDone: true } : { waitSeconds };
}

/** Disables an endpoint that returned 410, whose URL is no longer allowed, or that has failed for five days. */
async function disableFailingWebhook(
  { database, ids, log }: Dependencies,
  { tenant_id }: DeliveryClaim,
  { webhook_id }: DueDelivery,
  { decision, isFailing }: { decision: DeliveryDecision; isFailing: boolean },
): Promise<void> {
  const reason = "reason" in decision && decision.reason ? decision.reason : isFailing ? "failing" : undefined;
  if (!webhook_id || !reason) return;
  if (await disableWebhook(database, { tenant_id, webhook_id }, reason, ids.next()))
    log.warn({ tenant_id, webhook_id, reason }, "webhook endpoint disabled");
}

type TraceDependencies = Pick<WebhookServices, "database" | "tracing" | "log">;

/**
 * Makes an attempt to deliver a webhook a part of the trace of its run. A delivery whose trace cannot be read is sent
 * without it.
 */
async function traceDelivery<T>(
  { database, tracing, log }: TraceDependencies,
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

type DeliveryEngine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  sleep(seconds: number): Promise<void>;
};

/**
 * The durable loop of one delivery: attempt, sleep, attempt again, until it is delivered or given up. Each step is
 * idempotent after a crash; the attempt count is in PostgreSQL.
 */
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
