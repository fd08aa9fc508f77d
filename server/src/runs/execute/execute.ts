// Executes a run from its plan to its end. The result of every step is JSON and is journalled: after a crash or a
// deploy the run resumes from the last journalled step. This file does not depend on a particular engine.

import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault, toFault } from "../../faults/faults.ts";
import type { AssetRef, SelectedOffer, Ticket } from "../../providers/provider.ts";
import { canBeEmpty, findsObjects, hasNoMasks, nothingFound } from "../outputs/nothing-found.ts";
import {
  type CollectResult,
  type FinishedRequest,
  hasSources,
  type JobStateNamed,
  type PlannedRequest,
  type ProducedState,
  type RequestResult,
  type ResolvedRequest,
  type ResolvedSources,
  type RunOutcome,
  type RunPlan,
  type RunSteps,
  type SubmitResult,
} from "../steps.ts";
import { createResultSlots, type Sourced } from "./result-slots.ts";
import type { FlowEngine, RunEngine, Wakeup } from "./run-engine.ts";
import { toRunFault } from "./run-fault.ts";
import { runSideBySide } from "./run-side-by-side.ts";

const FIRST_COLLECT_WAIT_SECONDS = 60;
const MAX_COLLECT_WAIT_SECONDS = 600;

type RunExecution = { claim: RunClaim; engine: RunEngine; steps: RunSteps; jobs?: Job[] | undefined };
/** The execution of one request. Requests of a job are executed side by side. */
type RequestExecution = { claim: RunClaim; engine: FlowEngine; steps: RunSteps };

/** `jobs`: the plan of the run, if it is known. */
export async function executeRun(claim: RunClaim, engine: RunEngine, steps: RunSteps, jobs?: Job[]): Promise<void> {
  const outcome = await runToOutcome({ claim, engine, steps, jobs }).catch((thrown) => failedOutcome(toFault(thrown)));
  if (outcome) await engine.step("finish", () => steps.finishRun(claim, outcome));
}

const failedOutcome = (fault: Fault): RunOutcome => ({ status: "failed", error: toRunFault(fault).body() });
const canceledOutcome = (): RunOutcome => ({ status: "canceled", error: new Fault("canceled_by_user").body() });

/** Returns undefined if the run has ended, or if the claim was lost: then another invocation ends the run. */
async function runToOutcome(execution: RunExecution): Promise<RunOutcome | undefined> {
  const { claim, engine, steps, jobs } = execution;
  const wakeup = engine.createWakeup();
  // Planning and the first submission are one journal entry if nothing is between them. Both are idempotent by what
  // they write to PostgreSQL, so a crash between them loses nothing that two entries would have saved.
  const { plan, submitted } = await engine.step("start", async () => {
    const planned = await steps.planRequests(claim, jobs);
    const request = planned && findWholeRun(planned);
    const attempt = { attemptNumber: 1, wakeupId: wakeup.id };
    return { plan: planned, ...(request && { submitted: await steps.submit(claim, request, attempt) }) };
  });
  if (!plan) return undefined;
  return submitted ? runOnlyRequest(execution, plan, { wakeup, submitted }) : runRequests(execution, plan);
}

/** The request of a run that has only one, which needs no sources. */
function findWholeRun({ requests }: RunPlan): ResolvedRequest | undefined {
  const [request] = requests;
  if (!request || requests.length > 1 || request.earlierResult || hasSources(request.job)) return undefined;
  const { requestIndex, job, offer, startsRun } = request;
  return { requestIndex, job: job as Job<AssetRef>, offer, isWholeRun: true, startsRun };
}

async function runOnlyRequest(
  execution: RunExecution,
  plan: RunPlan,
  started: FirstSubmission,
): Promise<RunOutcome | undefined> {
  // The first submission has started the run.
  const { startsRun: _, ...request } = findWholeRun(plan)!;
  const end = await runRequest(execution, request, started);
  switch (end.state) {
    case "finished":
    case "claim_lost":
      return undefined;
    case "canceled":
      return canceledOutcome();
    case "produced": {
      // The results were stored without ending the run, for example by an earlier invocation.
      const outcome = await runRequests(execution, { requests: [{ ...plan.requests[0]!, earlierResult: end }] });
      return outcome?.status === "completed"
        ? { ...outcome, warnings: [...end.warnings, ...outcome.warnings] }
        : outcome;
    }
  }
}

async function runRequests(execution: RunExecution, plan: RunPlan): Promise<RunOutcome | undefined> {
  const filesByJob: StoredAsset[][] = [];
  const slots = createResultSlots(plan.requests);
  const finishedRequests: FinishedRequest[] = [];
  const warnings: string[] = [];
  const resultData: JsonObject[] = [];
  const addResult = (request: PlannedRequest, { files, data, usage, offer }: RequestResult) => {
    const { jobIndex, job } = request;
    filesByJob[jobIndex] = [...(filesByJob[jobIndex] ?? []), ...files];
    slots.fill(request, files.length);
    finishedRequests.push({ job, offer, files, ...(usage && { usage }) });
    if (data) resultData.push(data);
  };

  for (const planned of groupByJob(plan.requests)) {
    const { job, jobIndex } = planned[0]!;
    if (hasNoMasks(job, filesByJob)) {
      filesByJob[jobIndex] = [];
      continue;
    }
    const requests = planned.flatMap((request) => slots.assignSource(request));
    if (requests.length === 0) throw new Fault("source_run_failed");
    const unfinished = requests.filter(({ earlierResult }) => !earlierResult);
    const ends = await runJob(execution, unfinished, { filesByJob, hasOtherRequests: requests.length > 1 });
    const states = ends.flatMap((end) => (end.status === "fulfilled" ? end.value.state : []));
    if (states.includes("claim_lost")) return undefined;
    if (states.includes("canceled")) return canceledOutcome();

    const failures: unknown[] = [];
    for (const request of requests) {
      const end = ends[unfinished.indexOf(request)];
      if (request.earlierResult) addResult(request, request.earlierResult);
      else if (end?.status === "rejected") failures.push(end.reason);
      else if (end?.value.state === "produced") {
        addResult(request, end.value);
        warnings.push(...end.value.warnings);
      }
    }
    // The results of the other requests of this job are stored and paid for, so the run keeps them.
    const producedCount = filesByJob[jobIndex]?.length ?? 0;
    if (failures.length > 0 && producedCount === 0) throw failures[0];
    if (producedCount === 0 && findsObjects(job.task) && !canBeEmpty(plan.requests, jobIndex)) throw nothingFound();
    for (const failure of failures)
      warnings.push(`Only ${producedCount} of the results could be produced: ${toFault(failure).message}`);
  }

  const data = resultData.at(-1);
  const result = {
    outputs: filesByJob.at(-1) ?? [],
    ...(filesByJob.length > 1 && { jobs: filesByJob }),
    ...(data && { data }),
  };
  return { status: "completed", result, finishedRequests, warnings };
}

/** The requests of each job, in the order of the jobs: a job may use the results of earlier jobs. */
function groupByJob(requests: PlannedRequest[]): PlannedRequest[][] {
  const byJob = new Map<number, PlannedRequest[]>();
  for (const request of requests) byJob.set(request.jobIndex, [...(byJob.get(request.jobIndex) ?? []), request]);
  return [...byJob.values()];
}

/** Runs the requests of one job side by side. Returns the end of each request, in the order of the requests. */
async function runJob(
  execution: RunExecution,
  requests: Sourced<PlannedRequest>[],
  { filesByJob, hasOtherRequests }: { filesByJob: StoredAsset[][]; hasOtherRequests: boolean },
): Promise<PromiseSettledResult<RequestEnd>[]> {
  const [first] = requests;
  if (!first) return [];
  const [resolved] = await Promise.allSettled([resolveJobSources(execution, first, filesByJob)]);
  if (resolved.status === "rejected") return requests.map(() => resolved);
  const sources = resolved.value;
  if (sources.state !== "resolved") return requests.map(() => ({ status: "fulfilled", value: sources }));
  const { claim, engine, steps } = execution;
  return runSideBySide(
    engine,
    requests.map(({ requestIndex, job: planned, offer, sourceIndex }) => async (flowEngine) => {
      const job = { ...planned, ...sourcesOf(sources.job, sourceIndex) } as Job<AssetRef>;
      const request = { requestIndex, job, offer };
      try {
        return await runRequest({ claim, engine: flowEngine, steps }, request);
      } catch (thrown) {
        // If it was the only request of the job, the run ends with it.
        if (hasOtherRequests)
          await flowEngine.step(`${requestIndex}.release`, () => steps.releaseRequest(claim, request));
        throw thrown;
      }
    }),
  );
}

/** With `sourceIndex`, the request gets only this one of the images. */
const sourcesOf = ({ images, mask, masks }: Job<AssetRef>, sourceIndex: number | undefined) => ({
  images: sourceIndex === undefined ? images : images?.slice(sourceIndex, sourceIndex + 1),
  mask,
  masks,
});

async function resolveJobSources(
  { claim, engine, steps }: RunExecution,
  { requestIndex, job }: PlannedRequest,
  filesByJob: StoredAsset[][],
): Promise<ResolvedSources> {
  return hasSources(job)
    ? engine.step(`${requestIndex}.resolve-sources`, () => steps.resolveSources(claim, job, filesByJob))
    : { state: "resolved", job: job as Job<AssetRef> };
}

type RequestEnd = (ProducedState & { offer: SelectedOffer }) | JobStateNamed<"finished" | "claim_lost" | "canceled">;
type FirstSubmission = { wakeup: Wakeup; submitted: SubmitResult };

/**
 * Submits a request until a provider accepts it, and waits for the result. Submits again if the provider loses the job.
 * `first` is the first submission, if an earlier step has made it.
 */
async function runRequest(
  execution: RequestExecution,
  resolved: ResolvedRequest,
  first?: FirstSubmission,
): Promise<RequestEnd> {
  const { claim, engine, steps } = execution;
  let request = resolved;
  let attemptNumber = 1;
  for (let round = 0; ; round++) {
    const started = round === 0 ? first : undefined;
    const wakeup = started?.wakeup ?? engine.createWakeup();
    const submitted =
      started?.submitted ??
      (await engine.step(`${request.requestIndex}.submit.${round}`, () =>
        steps.submit(claim, request, { attemptNumber, wakeupId: wakeup.id }),
      ));
    if ("offer" in submitted && submitted.offer) request = { ...request, offer: submitted.offer };
    const jobState =
      submitted.state === "running"
        ? await waitForResult(execution, request, { ...submitted, wakeup, round })
        : submitted;
    switch (jobState.state) {
      case "produced":
        return { ...jobState, offer: request.offer };
      case "not_stored":
        throw new Fault(jobState.fault.code, jobState.fault.details);
      case "finished":
      case "claim_lost":
        return jobState;
      case "canceled":
        // An earlier invocation may have submitted the job.
        return submitted.state === "canceled" ? cancelRequest(execution, request) : jobState;
      case "retry":
      case "wait": {
        attemptNumber = jobState.attemptNumber;
        // While the job was running, its wakeup may have fired. A fired wakeup cannot be awaited again.
        const retryWakeup = submitted.state === "running" ? engine.createWakeup() : wakeup;
        const { delaySeconds } = jobState;
        if (delaySeconds === 0 || (await retryWakeup.wait(delaySeconds)) !== "cancel") continue;
        // The outcome may have become known during the wait, for example by a callback: then a job is running.
        return jobState.state === "wait" ? cancelRequest(execution, request) : { state: "canceled" };
      }
    }
  }
}

type SubmittedRequest = { wakeup: Wakeup; attemptNumber: number; ticket?: Ticket; round: number };

/** Waits for the wakeup of a running job and collects the result; both again while the job is still running. */
async function waitForResult(
  execution: RequestExecution,
  request: ResolvedRequest,
  submitted: SubmittedRequest,
): Promise<Exclude<CollectResult, { state: "running" }>> {
  const { claim, engine, steps } = execution;
  let { wakeup } = submitted;
  // A request may be submitted more than once, so the step names contain the round of the submission.
  const stepName = (step: string, round: number) =>
    `${request.requestIndex}.${step}.${submitted.round > 0 ? `${submitted.round}.` : ""}${round}`;
  for (let round = 0; ; round++) {
    const seconds = Math.min(FIRST_COLLECT_WAIT_SECONDS * 2 ** round, MAX_COLLECT_WAIT_SECONDS);
    const reason = await wakeup.wait(seconds);
    if (reason === "cancel") return cancelRequest(execution, request);

    const collected = await engine.step(stepName("collect", round), () =>
      steps.collectResult(claim, request, {
        attemptNumber: submitted.attemptNumber,
        // Another reason may mean that PostgreSQL knows more about the job than its ticket.
        ticket: reason === "called_back" ? submitted.ticket : undefined,
      }),
    );
    if (collected.state !== "running") return collected;

    // The wakeup fired early or timed out: register a new one, because a fired wakeup cannot be awaited again.
    wakeup = engine.createWakeup();
    const registration = { wakeupId: wakeup.id, seconds: seconds * 2 };
    const registered = await engine.step(stepName("register-wakeup", round), () =>
      steps.registerWakeup(claim, request, registration),
    );
    switch (registered.state) {
      case "registered":
        break;
      case "claim_lost":
        return registered;
      case "canceled":
        return cancelRequest(execution, request);
    }
  }
}

async function cancelRequest(
  { claim, engine, steps }: RequestExecution,
  request: ResolvedRequest,
): Promise<JobStateNamed<"canceled">> {
  await engine.step(`${request.requestIndex}.cancel`, () => steps.cancelAtProvider(claim, request));
  return { state: "canceled" };
}
