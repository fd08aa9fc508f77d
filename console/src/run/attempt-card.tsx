// An attempt at a provider: its outcome, its price, and exactly what was sent. A price that was not charged is struck
// through.
import { CircleCheck, CircleDashed, CircleQuestionMark, CircleX, LoaderCircle, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./timeline.module.css";
import type { TimelineEntry } from "./timeline.ts";

const words = text.runPage.timeline;

export const ATTEMPT_ICONS: Record<string, LucideIcon> = {
  intent: LoaderCircle,
  submitted: LoaderCircle,
  succeeded: CircleCheck,
  failed: CircleX,
  unknown: CircleQuestionMark,
  abandoned: CircleDashed,
};

export type TimelineAttempt = NonNullable<TimelineEntry["attempt"]>;
/** `isPaid`: the run was charged. Attempts of a run that was not charged cost nothing, whatever their outcome. */
type AttemptCardProps = { attempt: TimelineAttempt; isPaid: boolean };

export function AttemptCard({ attempt, isPaid }: AttemptCardProps) {
  const { state, error, request, upstream } = attempt;
  return (
    <div className={styles.attempt} data-state={state}>
      <p className={styles.outcome}>
        <span className={classNames(styles.outcomeState, styles[state])}>
          <Icon of={ATTEMPT_ICONS[state] ?? CircleDashed} size="s" />
          {outcomeOf(attempt)}
        </span>
        <AttemptPrice attempt={attempt} isPaid={isPaid} />
      </p>
      <dl className={styles.attemptFacts}>
        {upstream && upstream !== attempt.provider && <Fact name={words.model}>{upstream}</Fact>}
        {request && (
          <Fact name={words.request}>
            <AttemptRequest request={request} />
          </Fact>
        )}
        {error && <Fact name={words.reason}>{error.message}</Fact>}
        {state === "unknown" && <Fact name={words.resolution}>{words.unknownOutcome}</Fact>}
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function AttemptPrice({ attempt: { price, state }, isPaid }: AttemptCardProps) {
  const isCharged = isPaid && (state === "succeeded" || state === "submitted");
  if (price === null) return null;
  return (
    <span className={styles.price}>
      {isCharged || price === 0 ? formatMoney(price) : <s>{formatMoney(price)}</s>}
      {!isCharged && state !== "intent" && state !== "submitted" && ` ${text.run.notCharged}`}
    </span>
  );
}

function outcomeOf({ state, created_at, finished_at }: TimelineAttempt): string {
  const time = finished_at && formatDuration(millisecondsBetween(created_at, finished_at));
  if (state === "succeeded" && time) return words.completedIn(time);
  if (state === "failed" && time) return words.failedAfter(time);
  return words.states[state] ?? state;
}

/** The exact request to a provider: method and path, and the body on demand. */
function AttemptRequest({ request }: { request: Record<string, unknown> }) {
  const { method, path, ...rest } = request;
  const line = [method, path].filter((part) => typeof part === "string").join(" ");
  return (
    <details className={styles.request}>
      <summary>{line || "JSON"}</summary>
      <pre>{JSON.stringify("body" in rest ? rest.body : rest, null, 2)}</pre>
    </details>
  );
}
