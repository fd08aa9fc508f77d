// Notices when a listener was away, because this machine slept or Gesso could not be reached, and tells once it has caught up
// how many events it had missed.
import { formatSeconds, pluralize, printNote } from "./output.ts";

export type InterruptionMonitor = {
  connectionLost(): void;
  connectionRestored(): void;
  /** A message is being passed on. */
  forwardingStarted(): void;
  /** It was; it tells of this moment. */
  forwardingEnded(happenedAt: string): void;
  stop(): void;
};

const TICK_MS = 500;
/** A timer this late means that the machine was asleep. */
const SLEEP_THRESHOLD_MS = 4_000;
/** What was missed comes at once; when nothing has come for so long, that was all. */
const CAUGHT_UP_AFTER_MS = 2_500;

export function monitorInterruptions(): InterruptionMonitor {
  let since: number | undefined;
  let until: number | undefined;
  let missed = 0;
  let passing: "nothing" | "usual" | "late" = "nothing";
  let lastTick = Date.now();
  let lastNews = 0;

  const wake = () => {
    until ??= Date.now();
    lastNews = Date.now();
  };
  /** Who wakes may hear of events before its clock tells. */
  const look = () => {
    const now = Date.now();
    if (now - lastTick > SLEEP_THRESHOLD_MS) {
      [since, until] = [since ?? lastTick, undefined];
      wake();
    }
    lastTick = now;
  };
  const timer = setInterval(() => {
    look();
    if (since === undefined || until === undefined || passing !== "nothing") return;
    if (Date.now() - lastNews < CAUGHT_UP_AFTER_MS) return;
    const caught = missed === 0 ? "no missed events" : `${pluralize(missed, "missed event")} forwarded`;
    printNote(`Resumed after ${formatSeconds(until - since)}: ${caught}.`);
    [since, until, missed] = [undefined, undefined, 0];
  }, TICK_MS);

  return {
    connectionLost() {
      if (since === undefined) printNote("Connection to Gesso lost. Reconnecting; no events are lost.");
      since ??= Date.now();
      until = undefined;
    },
    connectionRestored() {
      if (since !== undefined) wake();
    },
    forwardingStarted() {
      look();
      passing = since === undefined ? "usual" : "late";
    },
    forwardingEnded(happenedAt) {
      if (passing === "late" && Date.parse(happenedAt) <= (until ?? Date.now())) missed++;
      passing = "nothing";
      lastNews = Date.now();
    },
    stop: () => clearInterval(timer),
  };
}
