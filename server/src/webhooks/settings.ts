// What an operator may say about webhooks.
import { z } from "zod";

export const WebhookEnv = z.object({
  WEBHOOK_ALLOW_HTTP: z
    .stringbool()
    .default(false)
    .describe("Whether webhooks may go to http:// addresses; private ones need FETCH_ALLOW_CIDRS besides"),
  WEBHOOK_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe("Webhook messages that may be on their way to one destination at a time"),
  WEBHOOK_PER_SECOND: z.coerce
    .number()
    .min(1)
    .max(10_000)
    .default(20)
    .describe("Webhook messages that one host is sent in a second, whoever's they are"),
  WEBHOOK_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(30)
    .default(15)
    .describe("How long a receiver of webhooks may take to answer"),
  WEBHOOK_BREAKER_FAILURES: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe("Circuit breaker: consecutive failures after which deliveries to a destination pause"),
  WEBHOOK_BREAKER_SECONDS: z.coerce
    .number()
    .min(0.1)
    .default(10)
    .describe("Circuit breaker: first pause in seconds; doubles each time, at most 300"),
  WEBHOOK_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(7)
    .default(30)
    .describe("Days that webhook deliveries and their attempts are kept"),
  WEBHOOK_TIME_SCALE: z.coerce
    .number()
    .min(0.00001)
    .max(1)
    .default(1)
    .describe("For tests: all waits between the attempts of a webhook times this"),
});
export type WebhookSettings = z.output<typeof WebhookEnv>;
