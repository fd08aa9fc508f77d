// The state of a delivery: icon, word, and when it is tried again.
import type { WebhookDelivery } from "@gesso/client";
import { Ban, CircleCheck, CircleDashed, CircleX } from "lucide-react";
import { formatDuration } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { toneOf } from "./delivery-facts.ts";

const ICONS = { ok: CircleCheck, bad: CircleX, wait: CircleDashed, off: Ban };
const words = text.webhooks;

/** Without `now`, only the word. */
export function DeliveryState({ delivery, now }: { delivery: WebhookDelivery; now?: number }) {
  const tone = toneOf(delivery);
  const isRetrying = delivery.status === "pending" && delivery.attempts > 0;
  const wait = delivery.next_attempt_at && now !== undefined ? Date.parse(delivery.next_attempt_at) - now : undefined;
  return (
    <span className={classNames(styles.state, styles[tone])}>
      <Icon of={ICONS[tone]} size="s" />
      {isRetrying ? words.retryingState : (words.statuses[delivery.status] ?? delivery.status)}
      {wait !== undefined && (
        <span className={styles.minor}>{wait > 0 ? words.nextIn(formatDuration(wait)) : words.sending}</span>
      )}
    </span>
  );
}
