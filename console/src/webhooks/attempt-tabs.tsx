// The attempts of a delivery side by side: HTTP status, time and duration of each, and the next one, dashed.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { CircleCheck, CircleX, Clock } from "lucide-react";
import { formatDuration } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { formatMoment } from "./moment.ts";

type Attempt = WebhookDeliveryDetails["log"][number];
type AttemptTabsProps = {
  delivery: WebhookDeliveryDetails;
  selected: number | undefined;
  now: number;
  onSelect(attempt: number): void;
};

const words = text.webhooks;
const isSuccess = ({ status }: Attempt) => status !== null && status >= 200 && status < 300;

export function AttemptTabs({ delivery, selected, now, onSelect }: AttemptTabsProps) {
  const wait = delivery.next_attempt_at ? Date.parse(delivery.next_attempt_at) - now : undefined;
  const isOpen = delivery.status === "pending";
  return (
    <ol className={styles.attempts} aria-label={words.attemptsLabel}>
      {delivery.log.map((attempt) => (
        <li key={attempt.attempt}>
          <button
            type="button"
            className={classNames(styles.attempt, attempt.attempt === selected && styles.current)}
            aria-pressed={attempt.attempt === selected}
            onClick={() => onSelect(attempt.attempt)}
          >
            <b className={isSuccess(attempt) ? styles.ok : styles.bad}>
              <Icon of={isSuccess(attempt) ? CircleCheck : CircleX} size="s" />
              <span className={styles.plain}>{attempt.status ?? words.noResponse}</span>
            </b>
            {words.attemptAt(formatMoment(attempt.started_at, now), formatMilliseconds(attempt.duration_ms))}
          </button>
        </li>
      ))}
      {isOpen && (
        <li>
          <div className={classNames(styles.attempt, styles.next)}>
            <b>
              <Icon of={Clock} size="s" />
              <span className={styles.plain}>{words.nextAttempt(delivery.log.length + 1)}</span>
            </b>
            {wait !== undefined && wait > 0 ? words.nextIn(formatDuration(wait)) : words.nextNow}
          </div>
        </li>
      )}
    </ol>
  );
}

const SECOND = 1000;
const formatMilliseconds = (milliseconds: number) =>
  milliseconds < SECOND ? `${milliseconds} ms` : formatDuration(milliseconds);
