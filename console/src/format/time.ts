// Durations and times of the page, from milliseconds and ISO times.
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** 45.3 s, 12 min 5 s, 3 h 20 min. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** A video's length: 0:06. */
export const formatVideoLength = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, "0")}`;

export const formatClock = (iso: string): string =>
  new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** 17:04:11.20, to set entries of one run apart. */
export function formatExactClock(iso: string): string {
  const time = new Date(iso);
  const hundredths = String(Math.floor(time.getMilliseconds() / 10)).padStart(2, "0");
  return `${time.toLocaleTimeString("en-GB")}.${hundredths}`;
}

/** 16 Nov, 17:04. */
export const formatDateTime = (iso: string): string =>
  new Date(iso).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

const dateFormat = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
export const formatDate = (iso: string): string => dateFormat.format(new Date(iso));

export const millisecondsBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from);

/** The number of days between two times in the reader's time zone: 0 for the same day, 1 for yesterday. */
export function daysBetween(earlier: Date, later: Date): number {
  const startOfDay = (time: Date) => new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
  return Math.round((startOfDay(later) - startOfDay(earlier)) / DAY);
}
