// The circuit breaker: an offer that keeps failing is left alone for a while, by every process, and then tried with one job.

import type { Database } from "../db/connect.ts";
import { type HealthRow, noteFailure, noteSuccess, type Rule, readHealth, takeProbe } from "../db/health.ts";
import type { Choice } from "../providers/provider.ts";

const FRESH_MS = 500;
/** A trial that is not heard of again for this long has died; somebody else may try. */
const PROBE_SECONDS = 30;

export type Health = {
  /** Seconds until the offer may be tried: 0 where it is in order, or where its time has come and a trial is needed. */
  shutFor(choice: Choice): number;
  /** Whether this caller may send now. Where the offer is on trial, only one may. */
  mayTry(choice: Choice): Promise<boolean>;
  good(choice: Choice): Promise<void>;
  bad(choice: Choice): Promise<void>;
};

export function createHealth(db: Database, rule: Rule): Health {
  let rows = new Map<string, HealthRow & { readAt: number }>();
  let readAt = 0;
  let writes = 0;
  const keyOf = ({ provider, as }: Choice) => `${provider} ${as}`;
  const keep = (row: HealthRow) => ({ ...row, readAt: performance.now() });

  /** Reading is cheap and its answer may be half a second old: nobody waits for it. */
  const refresh = () => {
    if (performance.now() - readAt < FRESH_MS) return;
    readAt = performance.now();
    const before = writes;
    void readHealth(db).then(
      (read) => {
        // What was written meanwhile is newer than what was read.
        if (writes === before)
          rows = new Map(read.map((row) => [keyOf({ provider: row.provider, as: row.upstream }), keep(row)]));
      },
      () => {},
    );
  };
  const find = (choice: Choice) => {
    refresh();
    const row = rows.get(keyOf(choice));
    if (!row || row.shut_for === null) return undefined;
    return { seconds: row.shut_for - (performance.now() - row.readAt) / 1000 };
  };

  return {
    shutFor: (choice) => Math.max(0, find(choice)?.seconds ?? 0),
    async mayTry(choice) {
      const shut = find(choice);
      if (!shut) return true;
      return shut.seconds <= 0 && takeProbe(db, choice.provider, choice.as, PROBE_SECONDS);
    },
    async good(choice) {
      refresh();
      if (!rows.delete(keyOf(choice))) return;
      writes++;
      await noteSuccess(db, choice.provider, choice.as);
    },
    async bad(choice) {
      const row = await noteFailure(db, choice.provider, choice.as, rule);
      writes++;
      rows.set(keyOf(choice), keep(row));
    },
  };
}
