// Runs a function repeatedly until it is stopped. An error in one iteration is logged and never ends the loop.

import type { Log } from "../observe/log.ts";
import type { Clock } from "../runtime/clock.ts";

export type Loop = { wake(): void; stop(): Promise<void> };

type Dependencies = { clock: Pick<Clock, "after">; log: Log };

/**
 * `runOnce` returns whether there is more to do at once. Otherwise the loop pauses for `intervalMs`, or until woken.
 */
export function startLoop(
  { clock, log }: Dependencies,
  name: string,
  intervalMs: number,
  runOnce: () => Promise<boolean>,
): Loop {
  let isRunning = true;
  let wasWoken = false;
  let interruptPause = () => {};

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = clock.after(intervalMs, resolve);
      interruptPause = () => {
        timer.stop();
        resolve();
      };
    });

  const done = (async () => {
    while (isRunning) {
      wasWoken = false;
      const more = await runOnce().catch((thrown) => {
        log.warn({ duty: name, err: thrown }, "loop iteration failed");
        return false;
      });
      if (!more && !wasWoken && isRunning) await pause();
    }
  })();

  return {
    wake() {
      wasWoken = true;
      interruptPause();
    },
    async stop() {
      isRunning = false;
      interruptPause();
      await done;
    },
  };
}
