// Notices when a listener was away, because this machine slept or Gesso could not be reached, and tells once it has caught up
// how many events it had missed.
import { counted, note, seconds } from "./screen.ts";

export type Pauses = {
  lost(): void;
  back(): void;
  /** A message is being passed on. */
  begin(): void;
  /** It was; it tells of this moment. */
  end(happenedAt: string): void;
  stop(): void;
};

const TICK_MS = 500;
/** Timers are late now and then; nobody is late by this much who was awake. */
const ASLEEP_MS = 4_000;
/** What was missed comes at once; when nothing has come for so long, that was all. */
const QUIET_MS = 2_500;

export function watchPauses(): Pauses {
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
    if (now - lastTick > ASLEEP_MS) {
      [since, until] = [since ?? lastTick, undefined];
      wake();
    }
    lastTick = now;
  };
  const timer = setInterval(() => {
    look();
    if (since === undefined || until === undefined || passing !== "nothing") return;
    if (Date.now() - lastNews < QUIET_MS) return;
    const caught = missed === 0 ? "nothing was missed" : `${counted(missed, "missed event")} passed on`;
    note(`Resumed after ${seconds(until - since)}: ${caught}.`);
    [since, until, missed] = [undefined, undefined, 0];
  }, TICK_MS);

  return {
    lost() {
      if (since === undefined) note("Gesso cannot be reached. Trying again; nothing will be missed.");
      since ??= Date.now();
      until = undefined;
    },
    back() {
      if (since !== undefined) wake();
    },
    begin() {
      look();
      passing = since === undefined ? "usual" : "late";
    },
    end(happenedAt) {
      if (passing === "late" && Date.parse(happenedAt) <= (until ?? Date.now())) missed++;
      passing = "nothing";
      lastNews = Date.now();
    },
    stop: () => clearInterval(timer),
  };
}
