// Settings of webhooks.
import { z } from "zod";
import { ipRangeList } from "../outbound/fetch-settings.ts";

export const WebhookEnv = z.object({
  WEBHOOK_ALLOW_HTTP: z
    .stringbool()
    .default(false)
    .describe("Whether Gesso sends webhooks to http:// URLs. Private hosts also need WEBHOOK_ALLOW_CIDRS"),
  WEBHOOK_ALLOW_CIDRS: ipRangeList().describe(
    "Private IP ranges that Gesso may send webhooks to, comma-separated. Default: none.",
  ),
  WEBHOOK_ALLOW_LOOPBACK: z
    .stringbool()
    .default(false)
    .describe(
      "For development only: whether Gesso sends webhooks to http and https URLs of this machine, at any port. `gesso dev` " +
        "sets it. Refused unless HOST and PUBLIC_URL are loopback addresses",
    ),
  WEBHOOK_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe("Concurrent webhook requests to one destination"),
  WEBHOOK_PER_SECOND: z.coerce
    .number()
    .min(1)
    .max(10_000)
    .default(20)
    .describe("Webhook requests per second to one host, of all tenants"),
  WEBHOOK_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(30)
    .default(15)
    .describe("Timeout of a webhook request, in seconds"),
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
    .describe("Days to keep webhook deliveries and their attempts"),
  WEBHOOK_TIME_SCALE: z.coerce
    .number()
    .min(0.00001)
    .max(1)
    .default(1)
    .describe("For tests only: factor for all delays between delivery attempts"),
});
export type WebhookSettings = z.output<typeof WebhookEnv>;
