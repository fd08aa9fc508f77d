// What must hold in every schedule, whatever crashes and in whatever order things happen.
import type { RunOutcome } from "../../src/runs/execute.ts";
import { InvariantViolation } from "./decisions.ts";
import type { Invocation, JournalEntry } from "./engine.ts";
import { jobIndexOf, type RunModel } from "./model.ts";
import { filesOf } from "./steps.ts";

type StepEntry = Extract<JournalEntry, { kind: "step" }>;

function require(invariant: string, holds: boolean, found: () => unknown): void {
  if (!holds) throw new InvariantViolation(invariant, JSON.stringify(found()));
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const stepsIn = ({ journal }: Invocation) => journal.filter((entry): entry is StepEntry => entry.kind === "step");
const stateOf = ({ outcome }: StepEntry) =>
  "value" in outcome ? (outcome.value as { state?: string } | null)?.state : undefined;

/** A run that waits after a submission can be woken: the wakeup it waits for is the registered one. */
export function checkWait(model: RunModel, invocation: Invocation): void {
  const openRun = model.findClaimed(invocation.claim);
  const last = stepsIn(invocation).at(-1);
  if (!openRun || !last || !/\.(submit|register-wakeup)\./.test(last.name)) return;
  const { id } = invocation.waiting!.entry;
  require("a run waits on the registered wakeup", openRun.wakeupId === id, () => [last.name, id, openRun.wakeupId]);
}

/** An invocation ends the run, or gives up because the run has ended or a later epoch has claimed it. */
export function checkInvocationEnd(model: RunModel, invocation: Invocation): void {
  require("a run ends exactly once", !model.findClaimed(invocation.claim), () => stepsIn(invocation).at(-1)?.name);
}

export function checkEnd(model: RunModel): void {
  require("a run ends exactly once", model.endings.length === 1, () => model.endings);
  const [ending] = model.endings;
  if (!ending?.endedBy) return;
  const { outcome, endedBy } = ending;
  checkCancellation(model, outcome, endedBy);
  if (outcome.status === "completed") checkResult(model, outcome);
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
  // The last step that tells the state of a provider job says whether a job is running that must be canceled.
  const last = stepsIn(endedBy).findLast(({ name }) => /\.(submit|collect)\./.test(name));
  if (!last || stateOf(last) !== "running") return;
  const ticket = model.findLatestAttempt(Number.parseInt(last.name, 10))!.ticket!;
  require("a running job of a canceled run is canceled at the provider", model.canceledTickets.has(ticket), () =>
    last.name);
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
  // Every request that produced nothing is reported.
  const missing = model.plan.length - finished.length;
  const reported = outcome.warnings.filter((warning) => warning.startsWith("Only ")).length;
  require("partial results are kept", missing === reported, () => outcome.warnings);
}

/** A run fails only if the job that failed has produced nothing. */
function checkPartialResults(model: RunModel, endedBy: Invocation): void {
  const last = stepsIn(endedBy).findLast(({ name }) => /^\d/.test(name));
  if (!last) return;
  const files = filesOf(model, jobIndexOf(Number.parseInt(last.name, 10)));
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
