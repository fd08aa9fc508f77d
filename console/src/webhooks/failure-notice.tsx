// Why a delivery has not arrived, and what happens next.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";

const words = text.webhooks;

export function FailureNotice({ delivery }: { delivery: WebhookDeliveryDetails }) {
  const last = delivery.log.at(-1);
  if (!last || delivery.status === "delivered" || (last.status !== null && last.status < 300)) return null;
  const reason =
    last.status === null
      ? (words.errors[last.error ?? ""] ?? words.otherError(last.error ?? text.common.unknown))
      : words.failedTimes(delivery.log.length, String(last.status));
  const next =
    delivery.status === "pending" ? words.failedNext : delivery.log.length === 1 ? words.failedOnce : words.exhausted;
  return (
    <Notice kind={delivery.status === "pending" ? "info" : "bad"} title={reason}>
      {next}
    </Notice>
  );
}
