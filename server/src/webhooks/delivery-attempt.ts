// One delivery attempt: wait for a slot, send, record the result. The engine journals only the delay until the next attempt; secrets
// are decrypted inside the step and never journalled.
import {
  type DeliveryClaim,
  type DueDelivery,
  extendDeliveryClaim,
  recordDeliveryAttempt,
  renewDeliveryClaim,
  takePlace,
} from "../db/webhooks/delivery-queue.ts";
import { disableWebhook } from "../db/webhooks/endpoints.ts";
import { Fault } from "../faults.ts";
import { connectionErrorCode } from "../outbound/webhook-http-client.ts";
import { buildMessageHeaders } from "./message-headers.ts";
import { type DeliveryDecision, decideDelivery, type ReceiverResponse } from "./retry-schedule.ts";
import { findSigningSecrets } from "./signing-secrets.ts";
import { deliveryLimits, disableAfterSeconds, type Office } from "./webhook-service.ts";

export type DeliveryStep = { isDone: true } | { waitSeconds: number };

const MAX_SLOT_WAIT_SECONDS = 60;
const MAX_BREAKER_SECONDS = 300;
/** Clocks are not that exact, and neither are timers. */
const SOON_SECONDS = 0.05;

export async function attemptDelivery(office: Office, held: DeliveryClaim): Promise<DeliveryStep> {
  const turn = await renewDeliveryClaim(office.db, held);
  if (!turn?.body) return { isDone: true };
  if (turn.seconds_until_due > SOON_SECONDS) return waitFor(office, held, turn.seconds_until_due);
  const gate = turn.has_slot ? 0 : await takePlace(office.db, held, turn, deliveryLimits(office));
  if (gate > 0) return waitFor(office, held, Math.min(gate, MAX_SLOT_WAIT_SECONDS));
  const started_at = new Date();
  const beginning = performance.now();
  const { answer, text } = await send(office, held, { ...turn, body: turn.body });
  const duration_ms = Math.round(performance.now() - beginning);
  return recordAttempt(office, held, turn, { answer, text, started_at, duration_ms });
}

async function waitFor({ db }: Office, held: DeliveryClaim, seconds: number): Promise<DeliveryStep> {
  await extendDeliveryClaim(db, held, seconds);
  return { waitSeconds: seconds };
}

type SendResult = { answer: ReceiverResponse; text: string | null };

async function send(office: Office, held: DeliveryClaim, turn: DueDelivery & { body: string }): Promise<SendResult> {
  const secrets = await findSigningSecrets(office, { ...held, ...turn }).catch(asUnreadable);
  if (!secrets) return { answer: { error: "secret_unreadable" }, text: null };
  try {
    const posted = await office.httpClient.post(turn.url, {
      body: turn.body,
      timeoutSeconds: office.settings.WEBHOOK_TIMEOUT_SECONDS,
      headers: buildMessageHeaders(office, secrets, { ...held, ...turn, attempt: turn.attempts + 1 }),
    });
    return { answer: { status: posted.status, retryAfter: posted.retryAfter }, text: posted.text };
  } catch (thrown) {
    return { answer: { error: connectionErrorCode(thrown) }, text: null };
  }
}

/** The secret was encrypted with another key. The attempt fails with `secret_unreadable`; no message is sent unsigned. */
function asUnreadable(thrown: unknown): undefined {
  if (!(thrown instanceof Fault && thrown.details.reason === "secret_unreadable")) throw thrown;
}

type FinishedAttempt = SendResult & { started_at: Date; duration_ms: number };

async function recordAttempt(
  office: Office,
  held: DeliveryClaim,
  turn: DueDelivery,
  { answer, text, ...times }: FinishedAttempt,
): Promise<DeliveryStep> {
  const { settings } = office;
  const verdict = decideDelivery(answer, {
    ...turn,
    deliveryId: held.delivery_id,
    tried: turn.attempt_count + 1,
    now: Date.now(),
  });
  const waitSeconds = verdict.status === "pending" ? verdict.waitSeconds * settings.WEBHOOK_TIME_SCALE : undefined;
  const noted = await recordDeliveryAttempt(office.db, held, {
    attempt: {
      ...{ attempt: turn.attempts + 1, ...times, response: text },
      status: "status" in answer ? answer.status : null,
      error: "error" in answer ? answer.error : null,
    },
    status: verdict.status,
    waitSeconds,
    breaker: {
      failures: settings.WEBHOOK_BREAKER_FAILURES,
      seconds: settings.WEBHOOK_BREAKER_SECONDS * settings.WEBHOOK_TIME_SCALE,
      longest: MAX_BREAKER_SECONDS * settings.WEBHOOK_TIME_SCALE,
    },
  });
  const isFailing = (noted?.failing_for ?? 0) > disableAfterSeconds(office);
  await disableFailingWebhook(office, held, turn, { verdict, isFailing });
  return waitSeconds === undefined ? { isDone: true } : { waitSeconds };
}

/** Disables an endpoint that returned 410, whose URL is no longer allowed, or that has failed for five days. */
async function disableFailingWebhook(
  { db, newId, log }: Office,
  { tenant_id }: DeliveryClaim,
  { webhook_id }: DueDelivery,
  { verdict, isFailing }: { verdict: DeliveryDecision; isFailing: boolean },
): Promise<void> {
  const reason = "reason" in verdict && verdict.reason ? verdict.reason : isFailing ? "failing" : undefined;
  if (!webhook_id || !reason) return;
  if (await disableWebhook(db, { tenant_id, webhook_id }, reason, newId()))
    log.warn({ tenant_id, webhook_id, reason }, "a webhook was switched off");
}
