// What the page derives from deliveries: their tone, the share that arrived, and a command that sends the same request.
import type { WebhookDelivery, WebhookDeliveryDetails } from "@gesso/client";
import { quoteForShell } from "../forms/code-samples.ts";

export type DeliveryTone = "ok" | "bad" | "wait" | "off";

const TONES: Record<string, DeliveryTone> = {
  ...{ delivered: "ok", exhausted: "bad", pending: "wait", disabled: "off", dropped: "off" },
};

/** A pending delivery that has failed before is shown as failing. */
export const toneOf = ({ status, attempts }: Pick<WebhookDelivery, "status" | "attempts">): DeliveryTone =>
  status === "pending" && attempts > 0 ? "bad" : (TONES[status] ?? "off");

/** Of the finished deliveries, the share that arrived. Undefined without one. */
export function deliveredShare(deliveries: readonly Pick<WebhookDelivery, "status">[]): number | undefined {
  const arrived = deliveries.filter(({ status }) => status === "delivered").length;
  const failed = deliveries.filter(({ status }) => status === "exhausted").length;
  return arrived + failed > 0 ? arrived / (arrived + failed) : undefined;
}

/** The headers that are the same whenever this attempt is sent. */
export const knownHeaders = ({ event_id }: Pick<WebhookDelivery, "event_id">, attempt: number): [string, string][] => [
  ["content-type", "application/json"],
  ["webhook-id", event_id],
  ["x-webhook-attempt", String(attempt)],
];

export function curlCommand(delivery: Pick<WebhookDeliveryDetails, "url" | "event_id" | "body">): string {
  const headers = knownHeaders(delivery, 1).map(([name, value]) => `  -H ${quoteForShell(`${name}: ${value}`)} \\`);
  return [
    `curl -sS -X POST ${quoteForShell(delivery.url)} \\`,
    ...headers,
    `  --data-binary ${quoteForShell(delivery.body ?? "")}`,
  ].join("\n");
}
