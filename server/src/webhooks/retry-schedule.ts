// The retry schedule of deliveries and the meaning of a receiver's response. Pure functions, so that tests check three
// days of retries without waiting.
import { createHash } from "node:crypto";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY_SECONDS = 24 * HOUR;

/** Delay before each attempt, counted from the previous one: ten attempts over a little more than three days. */
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
const MAX_JITTER = 0.1;
const MAX_RETRY_AFTER_SECONDS = DAY_SECONDS;

/** Events that are only of momentary interest: they are attempted once. */
const SINGLE_ATTEMPT_EVENTS = ["run.processing", "run.progress", "webhook.test"];
export const maxAttempts = (type: string): number =>
  SINGLE_ATTEMPT_EVENTS.includes(type) ? 1 : RETRY_DELAYS_SECONDS.length;

/**
 * Seconds between attempt `tried` and the next one; undefined after the last. Jitter adds up to 10 %, so that messages
 * sent at the same time are not retried at the same time. It is derived from the delivery id, so it is the same on
 * replay.
 */
export function retryDelaySeconds(tried: number, deliveryId: string, type = "run.completed"): number | undefined {
  const wait = tried < maxAttempts(type) ? RETRY_DELAYS_SECONDS[tried] : undefined;
  return wait === undefined ? undefined : wait * (1 + MAX_JITTER * stableRandom(`${deliveryId} ${tried}`));
}

const stableRandom = (seed: string) => createHash("sha256").update(seed).digest().readUInt32BE(0) / 2 ** 32;

export type ReceiverResponse = { status: number; retryAfter?: string | undefined } | { error: string };

export type DeliveryDecision =
  | { status: "delivered" }
  | { status: "pending"; waitSeconds: number }
  /** `reason` is set if the endpoint is to be disabled. */
  | { status: "exhausted" | "disabled"; reason?: "gone" | "not_allowed" };

export type AttemptInfo = { deliveryId: string; type: string; tried: number; now: number };

/** `tried` counts this attempt; `now` is in milliseconds. */
export function decideDelivery(
  response: ReceiverResponse,
  { deliveryId, type, tried, now }: AttemptInfo,
): DeliveryDecision {
  if ("error" in response && response.error === "webhook_url_not_allowed")
    return { status: "disabled", reason: "not_allowed" };
  if ("status" in response) {
    if (response.status >= 200 && response.status < 300) return { status: "delivered" };
    if (response.status === 410) return { status: "disabled", reason: "gone" };
  }
  const wait = retryDelaySeconds(tried, deliveryId, type);
  if (wait === undefined) return { status: "exhausted" };
  return { status: "pending", waitSeconds: Math.max(wait, retryAfterSeconds(response, now)) };
}

/** Honours Retry-After of a 429 or 503 response, up to one day; ignores it otherwise. */
function retryAfterSeconds(response: ReceiverResponse, now: number): number {
  if (!("status" in response) || (response.status !== 429 && response.status !== 503)) return 0;
  const header = response.retryAfter ?? "";
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS) : 0;
}
