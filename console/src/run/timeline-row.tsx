// One entry of the timeline. An attempt has a card with the exact request and its outcome.
import { ArrowRightToLine, CircleDot, Clock, Database } from "lucide-react";
import { formatClock, formatDuration } from "../format/time.ts";
import { Icon } from "../parts/icon.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import { AttemptCard } from "./attempt-card.tsx";
import styles from "./timeline.module.css";
import type { TimelineEntry } from "./timeline.ts";

const ICONS = { accepted: ArrowRightToLine, waited: Clock, attempt: CircleDot, ended: Database };

type TimelineRowProps = { entry: TimelineEntry; createdAt: string; status: string };

export function TimelineRow({ entry: { kind, at, attempt, duration = 0 }, createdAt, status }: TimelineRowProps) {
  const words = text.run.timeline;
  const titles = {
    accepted: words.accepted,
    waited: words.waited(formatDuration(duration)),
    attempt: attempt ? words.attempt(attempt.try, attempt.provider) : "",
    ended: words.ended,
  };
  return (
    <li className={styles.entry}>
      <span className={styles.pin}>
        <Icon of={ICONS[kind]} size="s" />
      </span>
      <span className={styles.what}>
        <b>{titles[kind]}</b>
        {kind === "ended" && <RunState status={status} />}
      </span>
      <span className={styles.when}>
        {kind === "accepted" ? formatClock(createdAt) : at !== null && `+${formatDuration(at)}`}
      </span>
      {attempt && <AttemptCard attempt={attempt} />}
    </li>
  );
}
