// One entry of the timeline. An attempt has a card with the exact request and its outcome.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { ArrowRightToLine, CircleDashed, CircleSlash, CircleX, Clock, Database, Gauge, Webhook } from "lucide-react";
import { formatFile } from "../format/file-facts.ts";
import { formatMoney } from "../format/money.ts";
import { formatDuration, formatExactClock } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { ATTEMPT_ICONS, AttemptCard } from "./attempt-card.tsx";
import styles from "./timeline.module.css";
import type { TimelineEntry } from "./timeline.ts";

const words = text.runPage.timeline;
const ICONS = { accepted: ArrowRightToLine, waited: Clock, progress: Gauge, ended: Database, delivery: Webhook };
const END_ICONS: Record<string, typeof Database> = { failed: CircleX, canceled: CircleSlash };

type TimelineRowProps = { entry: TimelineEntry; run: Run; reserved: number | undefined };

export function TimelineRow({ entry, run, reserved }: TimelineRowProps) {
  const { kind, at, attempt, event } = entry;
  return (
    <li className={classNames(styles.entry, styles[toneOf(entry, run)])} data-event={event?.event_id}>
      <span className={styles.pin}>
        <Icon of={iconOf(entry, run)} size="s" />
      </span>
      <div className={styles.what}>
        <b>{titleOf(entry, run)}</b>
        <TimelineDetail entry={entry} run={run} reserved={reserved} />
      </div>
      <span className={styles.when}>
        {kind === "accepted" ? formatExactClock(run.created_at) : at !== null && `+${formatDuration(at)}`}
      </span>
      {attempt && <AttemptCard attempt={attempt} isPaid={run.cost !== null} />}
    </li>
  );
}

function titleOf({ kind, attempt, duration = 0, event, delivery }: TimelineEntry, run: Run): string {
  const hasJobs = (run.attempts ?? []).some(({ job }) => job > 0);
  if (kind === "attempt" && attempt) {
    const { job, try: number, provider } = attempt;
    return hasJobs ? words.attemptOfJob(job + 1, number, provider) : words.attempt(number, provider);
  }
  if (kind === "delivery") return words.deliveries[delivery?.status ?? ""] ?? delivery?.status ?? "";
  if (kind === "progress") {
    return event?.type === "run.progress" ? words.progress(Math.round(event.data.progress * 100)) : (event?.type ?? "");
  }
  if (kind === "ended") return run.status === "completed" ? words.stored : endTitle(run.status);
  return kind === "waited" ? words.waited(formatDuration(duration)) : words.accepted;
}

const endTitle = (status: string) => (status === "canceled" ? words.canceled : words.failed);

function iconOf({ kind, attempt }: TimelineEntry, { status }: Run) {
  if (kind === "attempt") return ATTEMPT_ICONS[attempt?.state ?? ""] ?? CircleDashed;
  return (kind === "ended" && END_ICONS[status]) || ICONS[kind];
}

function toneOf({ kind, attempt, delivery }: TimelineEntry, { status }: Run): string {
  if (kind === "attempt") {
    const tones: Record<string, string> = { succeeded: "ok", failed: "bad", unknown: "warn" };
    return tones[attempt?.state ?? ""] ?? "live";
  }
  if (kind === "delivery") return delivery?.status === "exhausted" ? "bad" : "calm";
  return kind === "ended" && status === "failed" ? "bad" : "calm";
}

const timelineDetailWords = text.runPage.timeline;

type TimelineDetailProps = { entry: TimelineEntry; run: Run; reserved: number | undefined };

/** The line below the title of a timeline entry: what it cost, made or reached. */
function TimelineDetail({ entry: { kind, delivery }, run, reserved }: TimelineDetailProps) {
  if (kind === "delivery" && delivery) {
    return (
      <p>
        <Link
          to="/deliveries/$deliveryId"
          params={{ deliveryId: delivery.id }}
          title={timelineDetailWords.openDelivery}
        >
          {withoutProtocol(delivery.url)}
        </Link>
        {" · "}
        {timelineDetailWords.deliveryFacts(delivery.type, delivery.attempts)}
      </p>
    );
  }
  if (kind === "accepted" && reserved !== undefined) {
    return (
      <p>
        {reserved > 0
          ? timelineDetailWords.acceptedNext(run.user_id, formatMoney(reserved))
          : timelineDetailWords.acceptedFree(run.user_id)}
      </p>
    );
  }
  if (kind !== "ended") return null;
  if (run.error) return <p>{run.error.message}</p>;
  return run.outputs.length > 0 ? <p>{run.outputs.map(formatFile).join(", ")}</p> : null;
}

const withoutProtocol = (url: string) => url.replace(/^https?:\/\//, "");
