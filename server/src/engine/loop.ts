// A duty that is done again and again, until it is told to stop. Something going wrong in one round never ends the duty.
import type { Logger } from "../runs/services.ts";

export type Loop = { wake(): void; stop(): Promise<void> };

/** `round` answers whether there is more to do right away; otherwise it is done again after `everyMs`, or when woken. */
export function startLoop(name: string, intervalMs: number, runOnce: () => Promise<boolean>, log: Logger): Loop {
  let isRunning = true;
  let wasWoken = false;
  let interruptPause = () => {};

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, intervalMs);
      interruptPause = () => {
        clearTimeout(timer);
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
