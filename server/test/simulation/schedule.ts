// Runs one random schedule: invocations of a run, crashes, wakeups, timers, callbacks, cancellation and requeues in the
// order that the decisions give, until the run has ended. Then the invariants are checked.
import type { executeRun } from "../../src/runs/execute.ts";
import { createDecisions, type Decisions, InvariantViolation } from "./decisions.ts";
import { createEngine, type Invocation, type SimulatedEngine } from "./engine.ts";
import { checkEnd, checkInvocationEnd, checkWait } from "./invariants.ts";
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
  const run = { model, engine, decisions };
  await engine.invoke({ run_id: "run", tenant_id: "tenant", epoch: 1 });
  for (let action = 0; engine.invocations.some(({ hasEnded }) => !hasEnded); action++) {
    if (action > MAX_ACTIONS) throw new InvariantViolation("a run ends exactly once", "it does not end");
    if (decisions.happens(5)) await actFromOutside(run);
    else await advanceOne(run);
    for (const invocation of engine.invocations) check(model, invocation);
  }
  checkEnd(model);
  return describeRun(run);
}

function describeRun({ model, engine }: SimulatedRun) {
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
    "a provider lost a job": model.providerJobs.some(({ state }) => state === "lost"),
    "an outcome was unknown": [...model.attempts.values()].some(({ unknownSince }) => unknownSince !== undefined),
    "a request had several attempts": [...model.attempts.values()].some(({ attemptNumber }) => attemptNumber > 1),
    "another offer produced a result": [...model.outputs.values()].some(({ provider }) => provider === "second"),
    "a job was canceled at its provider": model.canceledTickets.size > 0,
    "the deadline passed": model.clock.now > DEADLINE_SECONDS,
  };
}

type SimulatedRun = { model: RunModel; engine: SimulatedEngine; decisions: Decisions };

function check(model: RunModel, invocation: Invocation): void {
  if (invocation.hasEnded) checkInvocationEnd(model, invocation);
  else if (invocation.waiting) checkWait(model, invocation);
}

/** What other processes, the owner and the provider do. */
async function actFromOutside({ model, engine, decisions }: SimulatedRun): Promise<void> {
  const { openRun } = model;
  const action = decisions.pick(["job_ends", "callback", "cancel", "requeue", "reconcile"] as const);
  switch (action) {
    case "job_ends":
      return endProviderJob(model, decisions);
    case "callback":
      // May come early, late or twice. It brings the ticket of an attempt whose response was lost.
      for (const { ticket, key } of model.providerJobs) {
        const attempt = model.attempts.get(key);
        if (attempt && decisions.happens(2)) model.saveTicket(attempt, ticket);
      }
      return engine.resolveWakeup(openRun?.wakeupId, "ended");
    case "cancel":
      if (!openRun) return;
      model.wasCancelRequested = true;
      if (!openRun.isStarted) return model.endRun({ status: "canceled" } as never, undefined);
      openRun.isCancelRequested = true;
      return engine.resolveWakeup(openRun.wakeupId, "cancel");
    case "requeue":
      if (!openRun || openRun.epoch > MAX_REQUEUES) return;
      openRun.epoch++;
      openRun.wakeupId = undefined;
      return engine.invoke({ run_id: "run", tenant_id: "tenant", epoch: openRun.epoch });
    case "reconcile":
      if (openRun && model.clock.now > DEADLINE_SECONDS) model.endRun({ status: "failed" } as never, undefined);
  }
}

function endProviderJob(model: RunModel, decisions: Decisions): void {
  const running = model.providerJobs.filter(({ state }) => state === "running");
  if (running.length > 0) decisions.pick(running).state = decisions.pick(["done", "done", "lost", "failed"] as const);
}

/** Lets one invocation take its next action, or crashes it. */
async function advanceOne({ model, engine, decisions }: SimulatedRun): Promise<void> {
  const active = engine.invocations.filter(({ hasEnded }) => !hasEnded);
  const requestsTimeOutAt = Math.min(...active.map((each) => each.requestTimesOutAt ?? Number.POSITIVE_INFINITY));
  const actions = active.flatMap((invocation) => {
    if (invocation.resume) return [() => engine.resume(invocation)];
    const { entry } = invocation.waiting!;
    const wakeups = engine.hasFired(entry.id) ? [() => engine.wake(invocation, false)] : [];
    return entry.until < requestsTimeOutAt ? [...wakeups, () => engine.wake(invocation, true)] : wakeups;
  });
  if (actions.length === 0) throw new InvariantViolation("a run ends exactly once", "every invocation is stuck");
  // While decisions remain, time may pass without a result; afterwards the provider finishes before a timer fires.
  if (!active.some(({ resume }) => resume) && !decisions.happens(2)) finishRunningJobs(model, engine);
  if (decisions.happens(14)) await engine.crash(decisions.pick(active));
  else await decisions.pick(actions)();
}

function finishRunningJobs(model: RunModel, engine: SimulatedEngine): void {
  for (const job of model.providerJobs) if (job.state === "running") job.state = "done";
  if (model.openRun) engine.resolveWakeup(model.openRun.wakeupId, "ended");
}
