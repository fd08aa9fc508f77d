// An attempt at a provider: its outcome, its price, and what was sent. A price that was not charged is struck through.
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import styles from "./timeline.module.css";
import type { TimelineEntry } from "./timeline.ts";

const words = text.run.timeline;

type AttemptCardProps = { attempt: NonNullable<TimelineEntry["attempt"]> };

export function AttemptCard({ attempt: { state, error, request, upstream, price } }: AttemptCardProps) {
  const outcome = (words.states as Record<string, string>)[state] ?? state;
  const isCharged = state === "succeeded" || state === "submitted";
  return (
    <div className={styles.attempt}>
      <p className={styles.outcome}>
        {outcome}
        {price !== null && (
          <span className={styles.price}>
            {isCharged ? formatMoney(price) : <s>{formatMoney(price)}</s>} {!isCharged && text.run.notCharged}
          </span>
        )}
      </p>
      <dl>
        {upstream && (
          <>
            <dt>{text.run.model}</dt>
            <dd>{upstream}</dd>
          </>
        )}
        {error && (
          <>
            <dt>{words.reason}</dt>
            <dd>{error.message}</dd>
          </>
        )}
        {request && (
          <>
            <dt>{words.request}</dt>
            <dd>
              <pre className={styles.request}>{JSON.stringify(request, null, 2)}</pre>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}
