// A step that may take long or wait: it holds the claim of its run and renews it, so the reconciler does not start a
// second invocation beside it. It stops when the claim is lost, when the run is canceled, and at the deadline.

import type { Database } from "../../db/connect.ts";
import { CLAIM_SECONDS, type RunClaim } from "../../db/run-claims.ts";
import { renewClaimOfStep } from "../../db/runs/open-runs.ts";
import { Fault, passesByItself } from "../../faults/faults.ts";
import { backoffMs, retry } from "../../runtime/retry.ts";
import type { Runtime } from "../core/runtime.ts";

/** Renewals per claim length: a claim survives two renewals that fail. */
const RENEWALS_PER_CLAIM = 3;
const RETRIES = { firstMs: 500, maxMs: 15_000 };

/** Thrown to leave a step whose run it may no longer work on. */
class StepStopped extends Error {
  readonly state: StoppedState;
  constructor(state: StoppedState) {
    super(`the step stopped: ${state}`);
    this.state = state;
  }
}

type StoppedState = "claim_lost" | "canceled";
type Dependencies = Pick<Runtime, "clock" | "random"> & { database: Database };

export type ClaimedStep = {
  /** Aborted when the step has ended or must stop. */
  signal: AbortSignal;
  /** Repeats `work` with back-off while a dependency is unavailable. */
  retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T>;
};

/** Runs `work` if the claim is held, and renews the claim meanwhile. Throws run_timeout after the deadline. */
export async function runClaimedStep<T>(
  services: Dependencies,
  claim: RunClaim,
  work: (step: ClaimedStep) => Promise<T>,
): Promise<T | { state: StoppedState }> {
  const control = new AbortController();
  const checkClaim = async ({ mayCancel }: { mayCancel: boolean }): Promise<void> => {
    const renewed = await renewClaimOfStep(services.database, claim);
    if (!renewed) throw new StepStopped("claim_lost");
    if (renewed.canceled && mayCancel) throw new StepStopped("canceled");
    if (renewed.remaining <= 0) throw new Fault("run_timeout");
  };
  const stop = (thrown: unknown) => {
    if (!passesByItself(thrown)) control.abort(thrown);
  };
  // A step that does not wait completes: the next step sees that the run was canceled.
  const renewal = services.clock.every(
    (CLAIM_SECONDS * 1000) / RENEWALS_PER_CLAIM,
    () => void checkClaim({ mayCancel: false }).catch(stop),
  );

  const retryWhileUnavailable = <R>(attempt: () => Promise<R>): Promise<R> =>
    retry(attempt, {
      clock: services.clock,
      signal: control.signal,
      while: passesByItself,
      delayMs: (_, failures) => backoffMs({ ...RETRIES, random: services.random }, failures),
      // The database may be away too. Nothing is sent to others meanwhile, so the step keeps waiting.
      beforeRetry: () =>
        checkClaim({ mayCancel: true }).catch((thrown) => {
          if (!passesByItself(thrown)) throw thrown;
        }),
    });

  try {
    await checkClaim({ mayCancel: false });
    return await work({ signal: control.signal, retryWhileUnavailable });
  } catch (thrown) {
    if (thrown instanceof StepStopped) return { state: thrown.state };
    throw thrown;
  } finally {
    renewal.stop();
    control.abort(new Error("the step has ended"));
  }
}
