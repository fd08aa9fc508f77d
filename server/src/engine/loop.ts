// A duty that is done again and again, until it is told to stop. Something going wrong in one round never ends the duty.
import type { Log } from "../runs/house.ts";

export type Loop = { wake(): void; stop(): Promise<void> };

/** `round` answers whether there is more to do right away; otherwise it is done again after `everyMs`, or when woken. */
export function startLoop(name: string, everyMs: number, round: () => Promise<boolean>, log: Log): Loop {
  let running = true;
  let woken = false;
  let wakeUp = () => {};

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const done = (async () => {
    while (running) {
      woken = false;
      const more = await round().catch((thrown) => {
        log.warn({ duty: name, err: thrown }, "a round failed");
        return false;
      });
      if (!more && !woken && running) await pause();
    }
  })();

  return {
    wake() {
      woken = true;
      wakeUp();
    },
    async stop() {
      running = false;
      wakeUp();
      await done;
    },
  };
}
