// Recovers responses that an earlier process left in the spool of this machine, and removes those that are not needed
// any more. Every worker does this for its own directory, whichever worker the engine gave the run to.

import { findAttemptWakeup } from "../../db/attempts/open-requests.ts";
import { findSpooledAttempt } from "../../db/attempts/spooled-attempts.ts";
import type { SuspectRuns } from "../ownership/suspect-runs.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";
import type { SpoolEntry } from "./response-spool.ts";
import { saveSpooledResponse } from "./save-response.ts";

/** Longer than any run takes. An older file belongs to an attempt that this database does not have. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

export type RecoveryDependencies = AttemptDependencies & { suspects: SuspectRuns };

/** Returns the number of responses that were saved. */
export async function recoverSpooledResponses(services: RecoveryDependencies): Promise<number> {
  const { spool, clock, log } = services;
  let recovered = 0;
  for (const entry of await spool.list()) {
    const isRecovered = await recoverResponse(services, entry).catch((thrown) => {
      log.warn({ run_id: entry.attempt.run_id, err: thrown }, "recovering a spooled response failed; it is retried");
      return false;
    });
    if (isRecovered) recovered++;
  }
  const deleted = await spool.deleteOlderThan(clock.now() - MAX_AGE_MS);
  if (deleted > 0) log.error({ files: deleted }, "spooled responses without a run deleted after a day");
  return recovered;
}

async function recoverResponse(services: RecoveryDependencies, { attempt }: SpoolEntry): Promise<boolean> {
  const { database, spool, suspects, notifications } = services;
  const found = await findSpooledAttempt(database, attempt);
  // The attempt may belong to another database that shares the directory by mistake.
  if (!found) return false;
  if (!found.claim) {
    await spool.remove(attempt);
    return false;
  }
  if (found.isQuarantined) {
    // The response is paid for: it waits here until an operator retries or ends the run.
    await spool.keep(attempt);
    return false;
  }
  // The process that got the response may still be storing it.
  if (found.leaseSeconds > 0 || (await suspects.isHeldBack(attempt.run_id))) return false;
  const spooled = await spool.read(attempt);
  if (!spooled) return false;
  // Saving the output closes the request, and its wakeup with it.
  const waiting = await findAttemptWakeup(database, attempt);
  const result = await saveSpooledResponse(services, found.claim, attempt, { spooled, retrySeconds: 0 });
  if (result.state !== "produced" && result.state !== "running") return false;
  // A wakeup that cannot be resolved only costs time: the run looks at its attempt again by itself.
  if (waiting?.wakeup_id) await notifications.resolveWakeup(waiting.wakeup_id, "ended").catch(() => {});
  return true;
}
