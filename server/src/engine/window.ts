// How many runs may lie in the engine without having begun. It grows while they begin at once and shrinks when they do not,
// so that a queue stands where its order can still be changed, on a fast machine as on a slow one.

const SOON_MS = 60;
const LATE_MS = 150;
const LEAST = 4;
const MOST = 100;
/** A smaller window needs a moment to show. */
const AGAIN_MS = 100;

export type Window = {
  /** How long the slowest of those that have not begun has been waiting. */
  note(slowestMs: number, now: number): void;
  size(workers: number): number;
};

export function createWindow(): Window {
  let perWorker = 16;
  let shrunkAt = Number.NEGATIVE_INFINITY;
  return {
    note(slowestMs, now) {
      if (slowestMs < SOON_MS) perWorker = Math.min(MOST, perWorker + 1);
      else if (slowestMs > LATE_MS && now - shrunkAt > AGAIN_MS) {
        perWorker = Math.max(LEAST, perWorker * 0.7);
        shrunkAt = now;
      }
    },
    size: (workers) => Math.floor(perWorker) * workers,
  };
}
