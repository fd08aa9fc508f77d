// The UTC days of a period, and of the period before it. The API counts days in UTC.
import type { Period } from "./usage-search.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PERIOD_DAYS: Record<Period, number> = { today: 1, "7": 7, "30": 30, year: 365 };

export type DateRange = { from: string; to: string };

const isoDate = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`);

export function rangeOf(period: Period, now: number): DateRange {
  return { from: isoDate(now - (PERIOD_DAYS[period] - 1) * DAY_MS), to: isoDate(now) };
}

/** As many days, directly before. */
export function rangeBefore({ from, to }: DateRange): DateRange {
  const days = daysIn({ from, to });
  return { from: isoDate(startOf(from) - days * DAY_MS), to: isoDate(startOf(from) - DAY_MS) };
}

export const daysIn = ({ from, to }: DateRange): number => Math.round((startOf(to) - startOf(from)) / DAY_MS) + 1;

export const listDays = (range: DateRange): string[] =>
  Array.from({ length: daysIn(range) }, (_, index) => isoDate(startOf(range.from) + index * DAY_MS));

const monthName = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "short" });
const longDate = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
const longMonth = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "long", year: "numeric" });

/** 17 Oct */
export const formatDay = (day: string): string => `${Number(day.slice(8))} ${monthName.format(new Date(startOf(day)))}`;
/** 17 October 2026 */
export const formatLongDay = (day: string): string => longDate.format(new Date(startOf(day)));
/** The first day, without the year if it is that of the last day. */
export const formatRangeStart = ({ from, to }: DateRange): string =>
  from !== to && from.slice(0, 4) === to.slice(0, 4) ? formatLongDay(from).slice(0, -5) : formatLongDay(from);
/** Oct, from 2026-10 */
export const formatMonth = (month: string): string => monthName.format(new Date(`${month}-01T00:00:00Z`));
/** October 2026, from 2026-10 */
export const formatLongMonth = (month: string): string => longMonth.format(new Date(`${month}-01T00:00:00Z`));
