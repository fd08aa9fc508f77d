// Detects that the listener was interrupted, because this machine slept or Gesso was unreachable, and reports the
// number of missed events once they are forwarded.
import { formatSeconds, pluralize, printNote } from "./output.ts";

export type InterruptionMonitor = {
  connectionLost(): void;
  connectionRestored(): void;
  forwardingStarted(): void;
  /** `happenedAt` is the timestamp of the forwarded event. */
  forwardingEnded(happenedAt: string): void;
  stop(): void;
};

const TICK_MS = 500;
/** A timer this late means that the machine slept. */
const SLEEP_THRESHOLD_MS = 4_000;
/** Missed events arrive at once after reconnecting; after this much silence all of them have arrived. */
const CAUGHT_UP_AFTER_MS = 2_500;

export function monitorInterruptions(): InterruptionMonitor {
  let since: number | undefined;
  let until: number | undefined;
  let missed = 0;
  let forwarding: "idle" | "on_time" | "late" = "idle";
  let lastTick = Date.now();
  let lastActivity = 0;

  const resume = () => {
    until ??= Date.now();
    lastActivity = Date.now();
  };
  /** Also called before forwarding: after sleep, an event may arrive before the timer fires. */
  const detectSleep = () => {
    const now = Date.now();
    if (now - lastTick > SLEEP_THRESHOLD_MS) {
      [since, until] = [since ?? lastTick, undefined];
      resume();
    }
    lastTick = now;
  };
  const timer = setInterval(() => {
    detectSleep();
    if (since === undefined || until === undefined || forwarding !== "idle") return;
    if (Date.now() - lastActivity < CAUGHT_UP_AFTER_MS) return;
    const outcome = missed === 0 ? "no missed events" : `${pluralize(missed, "missed event")} forwarded`;
    printNote(`Resumed after ${formatSeconds(until - since)}: ${outcome}.`);
    [since, until, missed] = [undefined, undefined, 0];
  }, TICK_MS);

  return {
    connectionLost() {
      if (since === undefined) printNote("Connection to Gesso lost. Reconnecting; no events are lost.");
      since ??= Date.now();
      until = undefined;
    },
    connectionRestored() {
      if (since !== undefined) resume();
    },
    forwardingStarted() {
      detectSleep();
      forwarding = since === undefined ? "on_time" : "late";
    },
    forwardingEnded(happenedAt) {
      if (forwarding === "late" && Date.parse(happenedAt) <= (until ?? Date.now())) missed++;
      forwarding = "idle";
      lastActivity = Date.now();
    },
    stop: () => clearInterval(timer),
  };
}
