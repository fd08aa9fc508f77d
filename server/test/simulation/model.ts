// What the simulated steps act on: the open run with its fencing epoch, its attempts with their leases, and a provider
// that remembers every job it accepted. The rules are those of the SQL statements in db/runs and of the steps in runs.
import type { RunClaim } from "../../src/db/run-claims.ts";
import type { StoredAsset } from "../../src/db/typed-columns.ts";
import type { PublicFault } from "../../src/faults/faults.ts";
import type { PlannedRequest, ResolvedRequest, RunOutcome } from "../../src/runs/steps.ts";
import { InvariantViolation } from "./decisions.ts";
import type { Invocation } from "./engine.ts";

/**
 * `replay`: the provider returns the first job for a repeated key. `find`: it can be asked for the job. `none`:
 * neither.
 */
export type Recovery = "replay" | "find" | "none";
/** `each_file`: the job has one request for each request of the job before it, and works on the file of that one. */
export type SimulatedJob = {
  requestCount: number;
  source: "none" | "url" | "earlier_job" | "each_file";
  recovery: Recovery;
};

export type Attempt = {
  requestIndex: number;
  attemptNumber: number;
  provider: string;
  state: "intent" | "submitted" | "succeeded" | "failed" | "unknown";
  leaseUntil: number;
  ticket?: number;
  finalFault?: PublicFault;
  unknownSince?: number;
  isResent?: boolean;
};
export type ProviderJob = {
  ticket: number;
  key: string;
  requestIndex: number;
  provider: string;
  state: "running" | "done" | "failed" | "lost" | "canceled";
};
type OpenRun = {
  epoch: number;
  isStarted: boolean;
  isCancelRequested: boolean;
  /** The registered wakeup of each open request. */
  wakeupIds: Map<number, string>;
  /** The requests whose wakeup was overwritten by a step of an attempt that has ended. */
  lateWakeups: Set<number>;
  /** The requests that may hold a provider slot. */
  openRequests: Set<number>;
  /** The open requests that an execution of an ended attempt has opened, or has ended before they were opened. */
  reopenedRequests: Set<number>;
};
type Output = { files: StoredAsset[]; data?: { of: number }; provider: string };
/** `endedBy` is undefined if the run was ended from outside: a cancellation before its start, or the reconciler. */
type Ending = {
  outcome: RunOutcome;
  endedBy: Invocation | undefined;
  /** The execution that ended the run belongs to an attempt that has ended: it knows nothing of what followed. */
  isLate: boolean;
  openRequests: number[];
};

export const DEADLINE_SECONDS = 150;
const REQUEST_INDEX_STRIDE = 100;
export const jobIndexOf = (requestIndex: number) => requestIndex % REQUEST_INDEX_STRIDE;
export const attemptKeyOf = (requestIndex: number, attemptNumber: number) => `${requestIndex}/${attemptNumber}`;

export type RunModel = ReturnType<typeof createRunModel>;

export function createRunModel(jobs: readonly SimulatedJob[], clock: { now: number }) {
  const isForEachFile = (jobIndex: number) => jobIndex > 0 && jobs[jobIndex]!.source === "each_file";
  const requestCountOf = (jobIndex: number): number =>
    isForEachFile(jobIndex) ? requestCountOf(jobIndex - 1) : jobs[jobIndex]!.requestCount;
  const sourceOf = (jobIndex: number) => {
    if (isForEachFile(jobIndex)) return { job: jobIndex - 1, each: true };
    return jobs[jobIndex]!.source === "earlier_job" && jobIndex > 0 ? { job: jobIndex - 1 } : { url: `u:${jobIndex}` };
  };
  const plan = jobs.flatMap((job, jobIndex) =>
    Array.from({ length: requestCountOf(jobIndex) }, (_, index): PlannedRequest => {
      const requestIndex = jobIndex + REQUEST_INDEX_STRIDE * index;
      const images = job.source === "none" ? undefined : [sourceOf(jobIndex)];
      return {
        ...{ requestIndex, jobIndex, offer: { provider: "first", upstreamModel: "model" } },
        ...(isForEachFile(jobIndex) && { sourceSlot: index }),
        job: { task: "image.generate", model: "model", prompt: `${requestIndex}`, images } as PlannedRequest["job"],
      };
    }),
  );
  const attempts = new Map<string, Attempt>();
  const providerJobs: ProviderJob[] = [];
  const outputs = new Map<number, Output>();
  const endings: Ending[] = [];
  const model = {
    ...{ jobs, plan, attempts, providerJobs, outputs, endings, clock },
    openRun: {
      ...{ epoch: 1, isStarted: false, isCancelRequested: false },
      ...{ wakeupIds: new Map(), lateWakeups: new Set(), openRequests: new Set(), reopenedRequests: new Set() },
    } as OpenRun | undefined,
    wasCancelRequested: false,
    canceledTickets: new Set<number>(),
    /** The jobs whose sources are stored. */
    resolvedJobs: new Set<number>(),
    /** Tickets of jobs that were running when a submission found that the run is canceled. */
    ticketsToCancel: new Set<number>(),
    /** The jobs that were running and whose ticket was saved when the cancellation was requested. */
    knownWhenCanceled: [] as ProviderJob[],
    /** The most jobs that the provider worked on at one time. */
    mostRunningJobs: 0,
  };

  const recoveryOf = (requestIndex: number) => jobs[jobIndexOf(requestIndex)]!.recovery;
  const findLatestAttempt = (requestIndex: number) =>
    [...attempts.values()].filter((each) => each.requestIndex === requestIndex).at(-1);

  return Object.assign(model, {
    /** Whether the job before did not produce the file of this request, so that the request is left out. */
    lacksSource: ({ sourceSlot, requestIndex }: PlannedRequest) =>
      sourceSlot !== undefined && !outputs.has(requestIndex - 1),
    findLatestAttempt,
    recoveryOf,
    listKnownJobs: () =>
      providerJobs.filter(({ state, ticket, requestIndex }) => {
        return state === "running" && findLatestAttempt(requestIndex)?.ticket === ticket;
      }),
    /** The open run, if the claim still holds. */
    findClaimed: (claim: RunClaim) => (model.openRun?.epoch === claim.epoch ? model.openRun : undefined),
    endRun(outcome: RunOutcome, endedBy: Invocation | undefined, isLate = false) {
      const openRequests = [...(model.openRun?.openRequests ?? [])];
      const left = openRequests.filter((requestIndex) => !model.openRun!.reopenedRequests.has(requestIndex));
      endings.push({ outcome, endedBy, isLate, openRequests: left });
      model.openRun = undefined;
    },
    /** The provider accepts a submission. A second job for a request that the provider still has is paid for twice. */
    acceptJob({ requestIndex, offer }: ResolvedRequest, key: string): ProviderJob {
      const known = providerJobs.find((each) => each.key === key);
      if (known && recoveryOf(requestIndex) === "replay") return known;
      const other = providerJobs.find((each) => each.requestIndex === requestIndex && each.state !== "lost");
      if (other) throw new InvariantViolation("no double submit", `request ${requestIndex}: ${other.key} and ${key}`);
      const accepted: ProviderJob = {
        ...{ ticket: providerJobs.length, key, requestIndex, provider: offer.provider, state: "running" },
      };
      providerJobs.push(accepted);
      const running = providerJobs.filter(({ state }) => state === "running").length;
      model.mostRunningJobs = Math.max(model.mostRunningJobs, running);
      return accepted;
    },
    /** Not fenced: a ticket must never be lost. */
    saveTicket(attempt: Attempt, ticket: number) {
      if (attempt.state !== "intent" && attempt.state !== "unknown" && attempt.state !== "submitted") return;
      attempt.state = "submitted";
      attempt.ticket ??= ticket;
    },
    /** Returns undefined if the claim is lost. A second call for the same request returns the same output. */
    saveOutput(claim: RunClaim, attempt: Attempt): Output | undefined {
      if (model.openRun?.epoch !== claim.epoch) return undefined;
      const { requestIndex, provider } = attempt;
      attempt.state = "succeeded";
      const file = { asset_id: `file of ${requestIndex}` } as StoredAsset;
      const output = { files: [file], provider, ...(requestIndex % 2 === 1 && { data: { of: requestIndex } }) };
      outputs.set(requestIndex, output);
      model.openRun.openRequests.delete(requestIndex);
      return output;
    },
  });
}
