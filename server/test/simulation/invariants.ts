// What must hold in every schedule, whatever crashes and in whatever order things happen.
import type { RunOutcome } from "../../src/runs/steps.ts";
import { InvariantViolation } from "./decisions.ts";
import type { Invocation, JournalEntry, SimulatedEngine } from "./engine.ts";
import { jobIndexOf, type RunModel } from "./model.ts";
import { filesOf } from "./steps.ts";

type StepEntry = Extract<JournalEntry, { kind: "step" }>;

function require(invariant: string, holds: boolean, found: () => unknown): void {
  if (!holds) throw new InvariantViolation(invariant, JSON.stringify(found()));
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const stepsIn = ({ journal }: Invocation) => journal.filter((entry): entry is StepEntry => entry.kind === "step");
type StepValue = { state?: string; submitted?: { state: string } } | null;
const stepValue = ({ outcome }: StepEntry) =>
  outcome && "value" in outcome ? (outcome.value as StepValue) : undefined;
const stateOf = (entry: StepEntry) => stepValue(entry)?.submitted?.state ?? stepValue(entry)?.state;
/** The step `start` of a run with only one request, whose index is 0, also submits the request. */
const requestIndexOf = (stepName: string) => (stepName === "start" ? 0 : Number.parseInt(stepName, 10));
const submits = (entry: StepEntry) => entry.name.includes(".submit.") || stepValue(entry)?.submitted !== undefined;

/** A request that waits after a submission can be woken: the wakeup it waits for is the registered one. */
export function checkWaits(model: RunModel, engine: SimulatedEngine, invocation: Invocation): void {
  const openRun = model.findClaimed(invocation.claim);
  if (!openRun) return;
  const waits = engine.waitsOf(invocation);
  for (const { id, afterStep } of waits) {
    if (!afterStep || !/^start$|\.(submit|register-wakeup)\./.test(afterStep)) continue;
    const requestIndex = requestIndexOf(afterStep);
    if (openRun.lateWakeups.has(requestIndex)) continue;
    const registered = openRun.wakeupIds.get(requestIndex);
    require("a request waits on its registered wakeup", registered === id, () => [afterStep, id, registered]);
  }
  if (waits.length > 0 && invocation.executions.length === 0) checkSideBySide(model, invocation);
}

/** While a run only waits, each request of its job that has no result has been submitted. */
function checkSideBySide(model: RunModel, invocation: Invocation): void {
  const submitted = stepsIn(invocation).flatMap((entry) => (submits(entry) ? requestIndexOf(entry.name) : []));
  const jobIndex = jobIndexOf(submitted.at(-1)!);
  const requests = model.plan.filter((request) => request.jobIndex === jobIndex && !model.lacksSource(request));
  for (const { requestIndex } of requests) {
    const isStarted = submitted.includes(requestIndex) || model.outputs.has(requestIndex);
    require("the requests of a job are submitted side by side", isStarted, () => [requestIndex, submitted]);
  }
}

/** An invocation ends the run, or gives up because the run has ended or a later epoch has claimed it. */
export function checkInvocationEnd(model: RunModel, invocation: Invocation): void {
  require("a run ends exactly once", !model.findClaimed(invocation.claim), () => stepsIn(invocation).at(-1)?.name);
}

export function checkEnd(model: RunModel): void {
  require("a run ends exactly once", model.endings.length === 1, () => model.endings);
  const [ending] = model.endings;
  if (!ending?.endedBy) return;
  const { outcome, endedBy, isLate, openRequests } = ending;
  // A paid result that arrives after all ends the run with the result, although a later execution saw the cancellation.
  if (!isLate) checkCancellation(model, outcome, endedBy);
  if (outcome.status === "completed") {
    require("a request that has ended holds no provider slot", openRequests.length === 0, () => openRequests);
    checkResult(model, outcome);
  }
  if (outcome.status === "failed") checkPartialResults(model, endedBy);
  checkProviderJobs(model, outcome);
}

function checkCancellation(model: RunModel, outcome: RunOutcome, endedBy: Invocation): void {
  const wasObserved = endedBy.journal.some(
    (entry) =>
      (entry.kind === "wait" && entry.reason === "cancel") || (entry.kind === "step" && stateOf(entry) === "canceled"),
  );
  require("an observed cancellation ends the run as canceled", !wasObserved || outcome.status === "canceled", () =>
    outcome);
  if (outcome.status !== "canceled") return;
  require("only a requested cancellation ends the run as canceled", model.wasCancelRequested, () => outcome);
  // The last step of a request that tells the state of its job says whether a job is running that must be canceled.
  const running = model.plan.flatMap(({ requestIndex }) => {
    const last = stepsIn(endedBy).findLast(
      (entry) => (submits(entry) || entry.name.includes(".collect.")) && requestIndexOf(entry.name) === requestIndex,
    );
    return last && stateOf(last) === "running" ? model.findLatestAttempt(requestIndex)!.ticket! : [];
  });
  // A job that an earlier invocation submitted is canceled when the last one reaches its request, and not before.
  const reached = new Set(stepsIn(endedBy).flatMap((entry) => (submits(entry) ? requestIndexOf(entry.name) : [])));
  const known = model.knownWhenCanceled
    .filter(({ state, requestIndex }) => state === "running" && reached.has(requestIndex))
    .map(({ ticket }) => ticket);
  // An execution of an ended attempt may have stored the result after the cancellation was seen.
  const left = [...model.ticketsToCancel].filter(
    (ticket) => !model.outputs.has(model.providerJobs[ticket]!.requestIndex),
  );
  for (const ticket of [...running, ...known, ...left])
    require("a running job of a canceled run is canceled at the provider", model.canceledTickets.has(ticket), () =>
      ticket);
}

function checkResult(model: RunModel, outcome: Extract<RunOutcome, { status: "completed" }>): void {
  const belongs = "requests and results belong to their job";
  const filesByJob = model.jobs.map((_, jobIndex) => filesOf(model, jobIndex));
  const { outputs, jobs = [outputs], data } = outcome.result;
  require(belongs, isSame(jobs, filesByJob) && isSame(outputs, filesByJob.at(-1)), () => [jobs, filesByJob]);
  const finished = model.plan.filter(({ requestIndex }) => model.outputs.has(requestIndex));
  const expected = finished.map(({ requestIndex, job }) => {
    const { provider, files } = model.outputs.get(requestIndex)!;
    return { job, offer: { provider, upstreamModel: "model" }, files };
  });
  require(belongs, isSame(outcome.finishedRequests, expected), () => [outcome.finishedRequests, expected]);
  const expectedData = finished.map(({ requestIndex }) => model.outputs.get(requestIndex)!.data).findLast(Boolean);
  require(belongs, isSame(data, expectedData), () => [data, expectedData]);
  // Every request that was submitted and produced nothing is reported.
  const missing = model.plan.filter((request) => !model.lacksSource(request)).length - finished.length;
  const reported = outcome.warnings.filter((warning) => warning.startsWith("Only ")).length;
  require("partial results are kept", missing === reported, () => outcome.warnings);
}

/** A run fails only if the job that failed has produced nothing. */
function checkPartialResults(model: RunModel, endedBy: Invocation): void {
  const last = stepsIn(endedBy).findLast((entry) => /^\d/.test(entry.name) || submits(entry));
  if (!last) return;
  const files = filesOf(model, jobIndexOf(requestIndexOf(last.name)));
  require("partial results are kept", files.length === 0, () => files);
}

/**
 * No job of the provider is forgotten: each is collected, canceled, ended by the provider, or recorded as an open
 * attempt.
 */
function checkProviderJobs(model: RunModel, outcome: RunOutcome): void {
  for (const job of model.providerJobs) {
    const attempt = model.attempts.get(job.key);
    const isCollected = model.outputs.has(job.requestIndex) || model.canceledTickets.has(job.ticket);
    const hasEnded = job.state === "lost" || job.state === "failed";
    const isRecorded = attempt !== undefined && (outcome.status !== "completed" || attempt.state === "failed");
    require("every submitted job is accounted for", isCollected || hasEnded || isRecorded, () => [job, attempt]);
  }
}
