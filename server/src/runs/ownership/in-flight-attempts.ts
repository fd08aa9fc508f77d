// Knows which attempts a living process is still working on: it has sent the request, and awaits the response or stores
// it. An expired lease says only that PostgreSQL heard nothing of the process. While the process lives, it gets the
// response and saves it, so the attempt is not given up. Processes that share a spool directory ask each other.
import type { AttemptRef } from "../../db/attempts/attempts.ts";
import type { Log } from "../../observe/log.ts";
import type { ProcessSockets } from "../../outbound/process-sockets.ts";
import { attemptKey } from "../core/ids.ts";

export type InFlightAttempts = {
  track<T>(attempt: AttemptRef, work: () => Promise<T>): Promise<T>;
  /** Whether this process, or another one that shares the spool directory, is still working on the attempt. */
  isOwned(attempt: AttemptRef): Promise<boolean>;
  /** Answers the other processes that share the spool directory. Never rejects. */
  listen(): Promise<void>;
  close(): Promise<void>;
};

const YES = "yes";
const NO = "no";

/** `sockets`: those of the spool directory. */
export function createInFlightAttempts(sockets: ProcessSockets, log: Log): InFlightAttempts {
  /** The number of executions that work on each attempt. */
  const working = new Map<string, number>();
  return {
    async track(attempt, work) {
      const key = attemptKey(attempt);
      working.set(key, (working.get(key) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = working.get(key)! - 1;
        if (left > 0) working.set(key, left);
        else working.delete(key);
      }
    },
    async isOwned(attempt) {
      const key = attemptKey(attempt);
      // A process that lives and does not answer may be stopped in the middle of the request.
      return working.has(key) || (await sockets.ask(key)).some((answer) => answer !== NO);
    },
    async listen() {
      await sockets
        .listen((key) => (working.has(key) ? YES : NO))
        .catch((thrown) =>
          log.warn({ err: thrown }, "workers that share SPOOL_DIR cannot ask this one for its requests"),
        );
    },
    close: sockets.close,
  };
}
