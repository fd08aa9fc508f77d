// The steps of a run and what passes between them. The flow in `execute/` calls the steps; each folder of `runs` that
// does one of them knows these types, and not the flow.

import type { Job } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { RunClaim } from "../db/run-claims.ts";
import type { StoredAsset, StoredRunResult } from "../db/typed-columns.ts";
import type { FaultCode, FaultDetails, PublicFault } from "../faults/faults.ts";
import type { ReportedUsage } from "../prices/price.ts";
import type { AssetRef, SelectedOffer, Ticket } from "../providers/provider.ts";

/**
 * The provider requests of a run, in order. A job that asks for more results than its offer returns per request becomes
 * several requests: `jobIndex` is the job in the plan, `requestIndex` the number of the request itself.
 */
export type RunPlan = { requests: PlannedRequest[] };
export type PlannedRequest = {
  requestIndex: number;
  jobIndex: number;
  job: Job;
  offer: SelectedOffer;
  /** For jobs whose image is `each` file of an earlier job: the slot of the file, see result-slots.ts. */
  sourceSlot?: number;
  /** Set if an earlier invocation of this run has already stored the result of the request. */
  earlierResult?: RequestResult;
  /** The run is not started yet: the claim of the first attempt starts it. */
  startsRun?: boolean;
};
export type RequestResult = { files: StoredAsset[]; data?: JsonObject; usage?: ReportedUsage; offer: SelectedOffer };
/**
 * A planned request whose sources are stored assets. `isWholeRun`: the run has no other request and ends with it, so
 * the step that stores the results completes the run too.
 */
export type ResolvedRequest = {
  requestIndex: number;
  job: Job<AssetRef>;
  offer: SelectedOffer;
  isWholeRun?: boolean;
  startsRun?: boolean | undefined;
};
/** A request with the offer that produced its files. */
export type FinishedRequest = {
  job: Job;
  offer: SelectedOffer;
  files: StoredAsset[];
  usage?: ReportedUsage | undefined;
};

/**
 * The state of the provider job of a request.
 * `running`: the provider has accepted the job; `offer` is set if an earlier attempt at another offer was adopted.
 * `produced`: the results are stored; `offer` as for `running`.
 * `finished`: the results are stored, and the run has been completed with them.
 * `retry`: the provider did not accept the job or has lost it; submit again as `attemptNumber`, with `offer` if another
 *   one was selected.
 * `wait`: the outcome of the submission is unknown or no provider slot is free; call submit again as `attemptNumber`.
 * `not_stored`: the provider has made the results, and they could not be stored before the deadline.
 * `claim_lost`: the run has ended or a later epoch has claimed it.
 * `canceled`: the owner of the run asked to cancel it.
 */
export type JobState =
  | { state: "running"; attemptNumber: number; offer?: SelectedOffer; ticket?: Ticket }
  | {
      state: "produced";
      files: StoredAsset[];
      data?: JsonObject;
      usage?: ReportedUsage;
      warnings: string[];
      offer?: SelectedOffer;
    }
  | { state: "finished" }
  | { state: "retry"; attemptNumber: number; delaySeconds: number; offer?: SelectedOffer }
  | { state: "wait"; attemptNumber: number; delaySeconds: number }
  | { state: "not_stored"; fault: { code: FaultCode; details: FaultDetails } }
  | { state: "claim_lost" }
  | { state: "canceled" };
export type JobStateNamed<Name extends JobState["state"]> = Extract<JobState, { state: Name }>;

export type SubmitResult = JobState;
export type CollectResult = JobStateNamed<
  "running" | "produced" | "finished" | "retry" | "not_stored" | "claim_lost" | "canceled"
>;
export type ProducedState = JobStateNamed<"produced">;
export type WakeupResult = { state: "registered" } | JobStateNamed<"claim_lost" | "canceled">;

export type ResolvedSources = { state: "resolved"; job: Job<AssetRef> } | JobStateNamed<"claim_lost" | "canceled">;

export type AttemptStart = { attemptNumber: number; wakeupId: string };
/** `ticket`: of the job, if a callback reported that the job has ended. Without it, the step reads the attempt. */
export type SubmittedAttempt = { attemptNumber: number; ticket?: Ticket | undefined };
export type WakeupRequest = { wakeupId: string; seconds: number };

/** The steps of a run. The engine may execute a step again after a crash, so each of them is idempotent. */
export type RunSteps = {
  /** Returns null if the claim is lost. `plan`: that of the run, if the caller knows it. */
  planRequests(claim: RunClaim, plan?: Job[]): Promise<RunPlan | null>;
  resolveSources(claim: RunClaim, job: Job, filesByJob: StoredAsset[][]): Promise<ResolvedSources>;
  submit(claim: RunClaim, request: ResolvedRequest, attempt: AttemptStart): Promise<SubmitResult>;
  collectResult(claim: RunClaim, request: ResolvedRequest, attempt: SubmittedAttempt): Promise<CollectResult>;
  registerWakeup(claim: RunClaim, request: ResolvedRequest, wakeup: WakeupRequest): Promise<WakeupResult>;
  cancelAtProvider(claim: RunClaim, request: ResolvedRequest): Promise<void>;
  /** Frees what a failed request holds while the other requests of its job continue. */
  releaseRequest(claim: RunClaim, request: ResolvedRequest): Promise<void>;
  finishRun(claim: RunClaim, outcome: RunOutcome): Promise<void>;
};

export type RunOutcome =
  | { status: "completed"; result: StoredRunResult; finishedRequests: FinishedRequest[]; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

export const hasSources = ({ images, mask, masks }: Job) =>
  [images, mask, masks].some((source) => source !== undefined);
