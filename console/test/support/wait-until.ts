// Waits for a condition where `expect.poll` is not allowed: in hooks and in benchmarks.
import { setTimeout as pause } from "node:timers/promises";

const CHECK_MS = 5;
/** Only what hangs takes this long. */
export const WAITING_MS = 300_000;

/** Throws with the words of `describe` if the condition never holds. */
export async function waitUntil(isTrue: () => Promise<boolean>, describe = () => "a condition"): Promise<void> {
  const giveUpAt = performance.now() + WAITING_MS;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`waited until the timeout for ${describe()}`);
    await pause(CHECK_MS);
  }
}
