// How long a process has run: 12 days, 3 h, 5 min.
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function formatUptime(milliseconds: number): string {
  if (milliseconds >= DAY) {
    const days = Math.floor(milliseconds / DAY);
    return days === 1 ? "1 day" : `${days} days`;
  }
  return milliseconds >= HOUR
    ? `${Math.floor(milliseconds / HOUR)} h`
    : `${Math.max(0, Math.floor(milliseconds / MINUTE))} min`;
}
