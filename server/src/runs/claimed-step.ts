// A step that may take long or wait: it holds the claim of its run and renews it, so the reconciler does not start a
// second invocation beside it. It stops when the claim is lost, when the run is canceled, and at the deadline.
import { CLAIM_SECONDS } from "../db/runs/open-requests.ts";
import { type RunClaim, renewClaimOfStep } from "../db/runs/open-runs.ts";
import { Fault, type FaultCode } from "../faults.ts";
import type { Services } from "./services.ts";

/** Renewals per claim length: a claim survives two renewals that fail. */
const RENEWALS_PER_CLAIM = 3;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;

/** A dependency is unavailable. A later attempt may succeed. */
const RETRYABLE_FAULTS: FaultCode[] = ["storage_failed", "asset_unavailable", "dependency_unavailable"];

/** Thrown to leave a step whose run it may no longer work on. */
class StepStopped extends Error {
  readonly state: StoppedState;
  constructor(state: StoppedState) {
    super(`the step stopped: ${state}`);
    this.state = state;
  }
}

type StoppedState = "claim_lost" | "canceled";
type Dependencies = Pick<Services, "database" | "clock" | "random">;

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
    if (!isRetryable(thrown)) control.abort(thrown);
  };
  // A step that does not wait completes: the next step sees that the run was canceled.
  const renewal = services.clock.every(
    (CLAIM_SECONDS * 1000) / RENEWALS_PER_CLAIM,
    () => void checkClaim({ mayCancel: false }).catch(stop),
  );

  const retryWhileUnavailable = async <R>(attempt: () => Promise<R>): Promise<R> => {
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)) {
      control.signal.throwIfAborted();
      try {
        return await attempt();
      } catch (thrown) {
        if (!isRetryable(thrown)) throw thrown;
      }
      await services.clock.sleep(delayMs * (0.5 + services.random()), control.signal).catch(() => undefined);
      control.signal.throwIfAborted();
      // The database may be away too. Nothing is sent to others meanwhile, so the step keeps waiting.
      await checkClaim({ mayCancel: true }).catch((thrown) => {
        if (!isRetryable(thrown)) throw thrown;
      });
    }
  };

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

const isRetryable = (thrown: unknown): boolean => thrown instanceof Fault && RETRYABLE_FAULTS.includes(thrown.code);
