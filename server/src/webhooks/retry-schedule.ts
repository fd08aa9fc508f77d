// When a message is tried, and what an answer to it means. All of it is figures in and figures out, so that three days can
// be looked at to the second without waiting for them.
import { createHash } from "node:crypto";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY_SECONDS = 24 * HOUR;

/** Seconds before each attempt, counted from the attempt before: ten attempts over three days and a little. */
export const RETRY_DELAYS_SECONDS = [
  0,
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const MOST_JITTER = 0.1;
const MOST_RETRY_AFTER = DAY_SECONDS;

/** Events that are only of momentary interest: they are attempted once. */
const SINGLE_ATTEMPT_EVENTS = ["run.processing", "run.progress", "webhook.test"];
export const maxAttempts = (type: string): number =>
  SINGLE_ATTEMPT_EVENTS.includes(type) ? 1 : RETRY_DELAYS_SECONDS.length;

/**
 * Seconds between attempt `tried` and the next; undefined where that was the last. Up to a tenth longer, by chance that is
 * always the same for the same message, so that the messages of one moment do not come back at one moment.
 */
export function retryDelaySeconds(tried: number, deliveryId: string, type = "run.completed"): number | undefined {
  const wait = tried < maxAttempts(type) ? RETRY_DELAYS_SECONDS[tried] : undefined;
  return wait === undefined ? undefined : wait * (1 + MOST_JITTER * stableRandom(`${deliveryId} ${tried}`));
}

const stableRandom = (words: string) => createHash("sha256").update(words).digest().readUInt32BE(0) / 2 ** 32;

export type ReceiverResponse = { status: number; retryAfter?: string | undefined } | { error: string };

export type DeliveryDecision =
  | { status: "delivered" }
  | { status: "pending"; waitSeconds: number }
  /** `reason` is set where the destination is to get nothing more. */
  | { status: "exhausted" | "disabled"; reason?: "gone" | "not_allowed" };

export type AttemptInfo = { deliveryId: string; type: string; tried: number; now: number };

/** `tried` counts this attempt; `now` is in milliseconds. */
export function decideDelivery(
  answer: ReceiverResponse,
  { deliveryId, type, tried, now }: AttemptInfo,
): DeliveryDecision {
  if ("error" in answer && answer.error === "webhook_url_not_allowed")
    return { status: "disabled", reason: "not_allowed" };
  if ("status" in answer) {
    if (answer.status >= 200 && answer.status < 300) return { status: "delivered" };
    if (answer.status === 410) return { status: "disabled", reason: "gone" };
  }
  const wait = retryDelaySeconds(tried, deliveryId, type);
  if (wait === undefined) return { status: "exhausted" };
  return { status: "pending", waitSeconds: Math.max(wait, retryAfterSeconds(answer, now)) };
}

/** Honours Retry-After of a 429 or 503 response, up to one day; ignores it otherwise. */
function retryAfterSeconds(answer: ReceiverResponse, now: number): number {
  if (!("status" in answer) || (answer.status !== 429 && answer.status !== 503)) return 0;
  const said = answer.retryAfter ?? "";
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), MOST_RETRY_AFTER) : 0;
}
