// The heading of a day: its name, its date, how many runs it had and what they cost.
import { memo } from "react";
import { formatMoney } from "../format/money.ts";
import { daysBetween, formatDate } from "../format/time.ts";
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import type { DayRow } from "./gallery-rows.ts";

const formatDayOfYear = (iso: string): string => {
  const isThisYear = new Date(iso).getFullYear() === new Date().getFullYear();
  return isThisYear ? formatDate(iso) : `${formatDate(iso)} ${new Date(iso).getFullYear()}`;
};

export const DayHeading = memo(function DayHeading({ day: { date, totals } }: { day: DayRow }) {
  const names = [text.gallery.today, text.gallery.yesterday];
  const name = names[daysBetween(new Date(date), new Date())];
  const facts = [
    name && formatDate(date),
    totals && text.gallery.runCount(totals.runs),
    totals && totals.cost > 0 && formatMoney(totals.cost),
  ];
  return (
    <h2 className={styles.day}>
      {name ?? formatDayOfYear(date)} <span>{facts.filter(Boolean).join(" · ")}</span>
    </h2>
  );
});
