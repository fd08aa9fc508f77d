// Limits the runs that are dispatched and not yet started. The window grows while runs start at once and shrinks when
// they do not, so that the backlog stays in PostgreSQL, where its order can still change.

const FAST_START_MS = 60;
const SLOW_START_MS = 150;
const MIN_SIZE = 4;
const MAX_SIZE = 100;
/** Pause after shrinking, because a smaller window takes effect with a delay. */
const SHRINK_COOLDOWN_MS = 100;

export type DispatchWindow = {
  /** `slowestMs`: the longest wait of a dispatched run that has not started. */
  recordStartDelay(slowestMs: number, now: number): void;
  size(workers: number): number;
};

export function createDispatchWindow(): DispatchWindow {
  let perWorker = 16;
  let shrunkAt = Number.NEGATIVE_INFINITY;
  return {
    recordStartDelay(slowestMs, now) {
      if (slowestMs < FAST_START_MS) perWorker = Math.min(MAX_SIZE, perWorker + 1);
      else if (slowestMs > SLOW_START_MS && now - shrunkAt > SHRINK_COOLDOWN_MS) {
        perWorker = Math.max(MIN_SIZE, perWorker * 0.7);
        shrunkAt = now;
      }
    },
    size: (workers) => Math.floor(perWorker) * workers,
  };
}
