// The heading of a day: its name, its date, how many runs it had and what they cost.
import { formatMoney } from "../format/money.ts";
import { formatDate } from "../format/time.ts";
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import type { DayRow } from "./gallery-rows.ts";

export function DayHeading({ day: { date, daysAgo, runs, cost } }: { day: DayRow }) {
  const names = [text.gallery.today, text.gallery.yesterday];
  const facts = [daysAgo < names.length && formatDate(date), text.gallery.runCount(runs), formatMoney(cost)];
  return (
    <h2 className={styles.day}>
      {names[daysAgo] ?? formatDate(date)} <span>{facts.filter(Boolean).join(" · ")}</span>
    </h2>
  );
}
