// Holds a step that stores paid results while the storage cannot take them: the disk is full, or a result is larger
// than the setting allows. The provider has the results, so the step fetches them again until they are stored. A run
// that reaches its deadline fails with the reason. The claim is renewed meanwhile, also during a long download.

import { findClaimedAttempt } from "../../db/attempts/attempts.ts";
import { CLAIM_SECONDS, type RunClaim } from "../../db/run-claims.ts";
import { renewClaimOfStep } from "../../db/runs/open-runs.ts";
import { Fault } from "../../faults/faults.ts";
import { backoffMs } from "../../runtime/retry.ts";
import { OUTPUT_TOO_LARGE } from "../outputs/fetch-output.ts";
import type { JobState } from "../steps.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";

/** A claim is renewed several times before it expires, and before one that was shortened by a wakeup does. */
const RENEW_MS = (CLAIM_SECONDS * 1000) / 6;
/** An operator frees space within minutes. A higher setting needs a restart, and each try may download the limit. */
const RETRIES = {
  storage: { firstMs: 500, maxMs: 15_000 },
  too_large: { firstMs: 15_000, maxMs: 300_000 },
};

export type HeldState = Extract<JobState, { state: "not_stored" | "claim_lost" | "canceled" }>;

type Dependencies = Pick<AttemptDependencies, "database" | "clock" | "log">;

/** `signal` is aborted when the claim is lost. Any failure that is not one of the storage is thrown. */
export async function holdUntilStored<T>(
  services: Dependencies,
  { claim, requestIndex }: { claim: RunClaim; requestIndex: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | HeldState> {
  const { database, clock, log } = services;
  const control = new AbortController();
  const renew = async () => {
    if (!(await findClaimedAttempt(database, claim, requestIndex))) control.abort(new Error("the claim is lost"));
  };
  // A renewal that fails is repeated by the next one.
  const timer = clock.every(RENEW_MS, () => void renew().catch(() => {}));
  try {
    for (let failures = 0; ; failures++) {
      try {
        return await work(control.signal);
      } catch (thrown) {
        if (control.signal.aborted) return { state: "claim_lost" };
        const held = await checkHeld(services, claim, thrown);
        if ("state" in held) return held;
        log.warn({ run_id: claim.run_id, err: thrown }, "a paid result cannot be stored; it is fetched again");
        await clock.sleep(Math.min(retryDelayMs(thrown, failures), held.remainingMs));
      }
    }
  } finally {
    timer.stop();
  }
}

export const retryDelayMs = (thrown: unknown, failures: number): number =>
  backoffMs(isTooLarge(thrown) ? RETRIES.too_large : RETRIES.storage, failures);

/** Returns how the step ends, or how long it may still wait. Throws a failure that is not one of the storage. */
export async function checkHeld(
  { database, log }: Pick<Dependencies, "database" | "log">,
  claim: RunClaim,
  thrown: unknown,
): Promise<HeldState | { remainingMs: number }> {
  if (!(thrown instanceof Fault) || thrown.code !== "storage_failed") throw thrown;
  const renewed = await renewClaimOfStep(database, claim);
  if (!renewed) return { state: "claim_lost" };
  if (renewed.canceled) return { state: "canceled" };
  if (renewed.remaining > 0) return { remainingMs: renewed.remaining * 1000 };
  const { code, details } = thrown;
  log.error(
    { run_id: claim.run_id, ...details, err: thrown },
    "a paid result could not be stored before the deadline of its run; the provider may still have it",
  );
  return { state: "not_stored", fault: { code, details } };
}

export const isTooLarge = (thrown: unknown) => thrown instanceof Fault && thrown.details.reason === OUTPUT_TOO_LARGE;
