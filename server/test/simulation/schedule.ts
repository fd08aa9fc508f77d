// Runs one random schedule: invocations of a run, crashes, wakeups, timers, callbacks, cancellation and requeues in the
// order that the decisions give, until the run has ended. Then the invariants are checked.
import type { executeRun } from "../../src/runs/execute/execute.ts";
import { createDecisions, type Decisions, InvariantViolation } from "./decisions.ts";
import { createEngine, type Invocation, type SimulatedEngine } from "./engine.ts";
import { checkEnd, checkInvocationEnd, checkWaits } from "./invariants.ts";
import { createRunModel, DEADLINE_SECONDS, type RunModel, type SimulatedJob } from "./model.ts";
import { createSteps } from "./steps.ts";

export type Schedule = { jobs: SimulatedJob[]; numbers: number[] };

const MAX_ACTIONS = 3000;
const MAX_REQUEUES = 2;

/** What happened in a schedule, to show that the schedules reach what they are meant to reach. */
export type ScheduleFacts = ReturnType<typeof describeRun>;

export async function runSchedule(execute: typeof executeRun, { jobs, numbers }: Schedule): Promise<ScheduleFacts> {
  const decisions = createDecisions(numbers);
  const clock = { now: 0 };
  const model = createRunModel(jobs, clock);
  const stepsOf = (invocation: Invocation) => createSteps({ model, decisions, engine }, invocation);
  const engine: SimulatedEngine = createEngine(execute, stepsOf, clock);
  const run: SimulatedRun = { model, engine, decisions, wasCanceledInParallel: false, wasCrashedInParallel: false };
  await engine.invoke({ run_id: "run", tenant_id: "tenant", epoch: 1 });
  for (let action = 0; engine.invocations.some(({ hasEnded }) => !hasEnded); action++) {
    if (action > MAX_ACTIONS) throw new InvariantViolation("a run ends exactly once", "it does not end");
    if (decisions.happens(5)) await actFromOutside(run);
    else await advanceOne(run);
    for (const invocation of engine.invocations) check(run, invocation);
  }
  checkEnd(model);
  return describeRun(run);
}

function describeRun({ model, engine, wasCanceledInParallel, wasCrashedInParallel }: SimulatedRun) {
  const [ending] = model.endings;
  const { outcome, endedBy } = ending!;
  const isPartial = outcome.status === "completed" && outcome.warnings.some((warning) => warning.startsWith("Only "));
  return {
    completed: outcome.status === "completed",
    failed: outcome.status === "failed",
    canceled: outcome.status === "canceled",
    "completed with partial results": isPartial,
    "ended from outside": endedBy === undefined,
    "ended by a later epoch": (endedBy?.claim.epoch ?? 1) > 1,
    "crashed at least once": engine.invocations.some(({ crashCount }) => crashCount > 0),
    "a later job left out a request, because its file is missing":
      outcome.status === "completed" && model.plan.some((request) => model.lacksSource(request)),
    "a provider lost a job": model.providerJobs.some(({ state }) => state === "lost"),
    "an outcome was unknown": [...model.attempts.values()].some(({ unknownSince }) => unknownSince !== undefined),
    "a request had several attempts": [...model.attempts.values()].some(({ attemptNumber }) => attemptNumber > 1),
    "another offer produced a result": [...model.outputs.values()].some(({ provider }) => provider === "second"),
    "a job was canceled at its provider": model.canceledTickets.size > 0,
    "the deadline passed": model.clock.now > DEADLINE_SECONDS,
    "several jobs were at the provider at once": model.mostRunningJobs > 1,
    "canceled while several requests waited": wasCanceledInParallel && outcome.status === "canceled",
    "crashed while several steps were executing": wasCrashedInParallel,
    "a run of one request was completed by the step that stored its result":
      endedBy !== undefined && outcome.status === "completed" && !hasFinishStep(endedBy),
    "a process went on after its attempt had ended": engine.invocations.some((each) => each.abandonedCount > 0),
  };
}

const hasFinishStep = ({ journal }: Invocation) =>
  journal.some((entry) => entry.kind === "step" && entry.name === "finish");

type SimulatedRun = {
  model: RunModel;
  engine: SimulatedEngine;
  decisions: Decisions;
  wasCanceledInParallel: boolean;
  wasCrashedInParallel: boolean;
};

function check({ model, engine }: SimulatedRun, invocation: Invocation): void {
  if (invocation.hasEnded) checkInvocationEnd(model, invocation);
  else checkWaits(model, engine, invocation);
}

/** What other processes, the owner and the provider do. */
async function actFromOutside(run: SimulatedRun): Promise<void> {
  const { model, engine, decisions } = run;
  const { openRun } = model;
  const action = decisions.pick(["job_ends", "callback", "cancel", "requeue", "reconcile"] as const);
  switch (action) {
    case "job_ends":
      return endProviderJob(run);
    case "callback":
      // May come early, late or twice. It brings the ticket of an attempt whose response was lost.
      for (const { ticket, key } of model.providerJobs) {
        const attempt = model.attempts.get(key);
        if (attempt && decisions.happens(2)) model.saveTicket(attempt, ticket);
      }
      for (const id of openRun?.wakeupIds.values() ?? []) if (decisions.happens(2)) engine.resolveWakeup(id, "ended");
      return;
    case "cancel":
      if (!openRun) return;
      model.wasCancelRequested = true;
      if (!openRun.isStarted) return model.endRun({ status: "canceled" } as never, undefined);
      if (!openRun.isCancelRequested) model.knownWhenCanceled = model.listKnownJobs();
      openRun.isCancelRequested = true;
      if (engine.invocations.some((invocation) => engine.waitsOf(invocation).length > 1))
        run.wasCanceledInParallel = true;
      for (const id of openRun.wakeupIds.values()) engine.resolveWakeup(id, "cancel");
      return;
    case "requeue":
      if (!openRun || openRun.epoch > MAX_REQUEUES) return;
      openRun.epoch++;
      openRun.wakeupIds.clear();
      // The next invocation may fail before it submits a request that this one has opened.
      for (const requestIndex of openRun.openRequests) openRun.reopenedRequests.add(requestIndex);
      return engine.invoke({ run_id: "run", tenant_id: "tenant", epoch: openRun.epoch });
    case "reconcile":
      if (openRun && model.clock.now > DEADLINE_SECONDS) model.endRun({ status: "failed" } as never, undefined);
  }
}

function endProviderJob({ model, engine, decisions }: SimulatedRun): void {
  const running = model.providerJobs.filter(({ state }) => state === "running");
  if (running.length === 0) return;
  const job = decisions.pick(running);
  job.state = decisions.pick(["done", "done", "lost", "failed"] as const);
  const reason = decisions.pick(["called_back", "ended"] as const);
  if (decisions.happens(2)) engine.resolveWakeup(model.openRun?.wakeupIds.get(job.requestIndex), reason);
}

/** Lets one execution or wait of an invocation continue, or ends the attempt of an invocation. */
async function advanceOne(run: SimulatedRun): Promise<void> {
  const { model, engine, decisions } = run;
  const active = engine.invocations.filter(({ hasEnded }) => !hasEnded);
  const executions = engine.invocations.flatMap((invocation) => invocation.executions);
  const requestsTimeOutAt = Math.min(...executions.map((each) => each.requestTimesOutAt ?? Number.POSITIVE_INFINITY));
  const actions = [
    ...executions.map((execution) => () => engine.resume(execution)),
    ...active.flatMap((invocation) =>
      engine.waitsOf(invocation).flatMap((entry) => {
        const wakeups = engine.hasFired(entry.id) ? [() => engine.wake(invocation, entry, false)] : [];
        return entry.until < requestsTimeOutAt ? [...wakeups, () => engine.wake(invocation, entry, true)] : wakeups;
      }),
    ),
  ];
  if (actions.length === 0) throw new InvariantViolation("a run ends exactly once", "every invocation is stuck");
  // While decisions remain, time may pass without a result; afterwards the provider finishes before a timer fires.
  if (executions.length === 0 && !decisions.happens(2)) finishRunningJobs(model, engine);
  if (!decisions.happens(14)) return decisions.pick(actions)();
  const invocation = decisions.pick(active);
  if (invocation.executions.length > 1) run.wasCrashedInParallel = true;
  await engine.crash(invocation, decisions.happens(3));
}

function finishRunningJobs(model: RunModel, engine: SimulatedEngine): void {
  for (const job of model.providerJobs) {
    if (job.state !== "running") continue;
    job.state = "done";
    engine.resolveWakeup(model.openRun?.wakeupIds.get(job.requestIndex), "called_back");
  }
}
