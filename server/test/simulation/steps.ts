// The steps of a run on the model. Each stops wherever a process can die between two effects, so that the scheduler can
// crash it there, and each answers a repeated call as the real step does.
import type { StoredAsset } from "../../src/db/typed-columns.ts";
import { Fault } from "../../src/faults/faults.ts";
import type { AttemptStart, CollectResult, ResolvedRequest, RunSteps, SubmitResult } from "../../src/runs/steps.ts";
import { type Decisions, InvariantViolation } from "./decisions.ts";
import type { Invocation, SimulatedEngine } from "./engine.ts";
import { type Attempt, attemptKeyOf, DEADLINE_SECONDS, jobIndexOf, type ProviderJob, type RunModel } from "./model.ts";

const SUBMIT_SECONDS = 30;
const LEASE_SECONDS = 35;
const LOOKUP_GRACE_SECONDS = 10;
const CALLBACK_GRACE_SECONDS = 60;

type Simulation = {
  model: RunModel;
  decisions: Decisions;
  engine: Pick<SimulatedEngine, "stop" | "setRequestTimeout" | "isAbandoned" | "clock">;
};

export function createSteps({ model, decisions, engine }: Simulation, invocation: Invocation): RunSteps {
  const { claim } = invocation;
  const { clock } = engine;
  const canDieHere = () => engine.stop();

  const produced = (attempt: Attempt): SubmitResult & CollectResult => {
    const output = model.saveOutput(claim, attempt);
    if (!output) return { state: "claim_lost" };
    const { provider: _, ...result } = output;
    return { state: "produced", ...result, warnings: decisions.happens(9) ? ["fewer results"] : [] };
  };

  /** Saves the output, and ends the run in the same statement if the run has no other request. */
  const finished = async (attempt: Attempt, { isWholeRun, job, offer }: ResolvedRequest) => {
    const result = produced(attempt);
    // A response from the spool is saved without ending the run.
    if (result.state !== "produced" || !isWholeRun || decisions.happens(20)) return result;
    const { files, data, warnings } = result;
    const finishedRequests = [{ job, offer, files }] as never;
    const outcome = { status: "completed", result: { outputs: files, ...(data && { data }) } } as const;
    const isLate = engine.isAbandoned();
    model.endRun(structuredClone({ ...outcome, finishedRequests, warnings }), invocation, isLate);
    await canDieHere();
    return { state: "finished" } as const;
  };

  const failAttempt = (attempt: Attempt, fault: Fault) => {
    attempt.state = "failed";
    attempt.finalFault = fault.body();
    return fault;
  };

  const fenceAndRegister = (requestIndex: number, wakeupId: string) => {
    const openRun = model.findClaimed(claim);
    if (!openRun) return "claim_lost";
    // An execution of an ended attempt may register its wakeup late. The request then resumes by its timer.
    if (openRun.wakeupIds.get(requestIndex) !== wakeupId)
      openRun.lateWakeups[engine.isAbandoned() ? "add" : "delete"](requestIndex);
    openRun.wakeupIds.set(requestIndex, wakeupId);
    // Such an execution may also open a request that has ended, or end it before this one opens it. The end of the run
    // closes it, because the row of a request refers to that of its run.
    const isLate = engine.isAbandoned() || model.outputs.has(requestIndex);
    if (!openRun.openRequests.has(requestIndex)) openRun.reopenedRequests[isLate ? "add" : "delete"](requestIndex);
    openRun.openRequests.add(requestIndex);
    return openRun.isCancelRequested ? "canceled" : "held";
  };

  /**
   * A submission that finds the run canceled leaves a job of an earlier invocation to the cancel step. The result of an
   * execution whose attempt has ended is not seen.
   */
  const giveUpSubmission = (state: "claim_lost" | "canceled", requestIndex: number): SubmitResult => {
    const ticket = model.findLatestAttempt(requestIndex)?.ticket;
    if (state === "canceled" && ticket !== undefined && !engine.isAbandoned()) model.ticketsToCancel.add(ticket);
    return { state };
  };

  /** An attempt that was begun is not given up. One that was not begun ends, so that no execution can begin it. */
  const giveUpUnsent = (requestIndex: number, attemptNumber: number, provider: string) => {
    const key = attemptKeyOf(requestIndex, attemptNumber);
    const fault = new Fault("run_timeout");
    const attempt = model.attempts.get(key);
    if (attempt && attempt.finalFault?.code !== fault.code) return;
    const finalFault = fault.body();
    model.attempts.set(key, { requestIndex, attemptNumber, provider, state: "failed", leaseUntil: 0, finalFault });
    throw fault;
  };

  const waitForSlot = (
    { requestIndex, offer: { provider } }: ResolvedRequest,
    { attemptNumber, wakeupId }: AttemptStart,
  ): SubmitResult => {
    const fenced = fenceAndRegister(requestIndex, wakeupId);
    if (fenced !== "held") return giveUpSubmission(fenced, requestIndex);
    if (clock.now > DEADLINE_SECONDS) giveUpUnsent(requestIndex, attemptNumber, provider);
    return { state: "wait", attemptNumber, delaySeconds: 1 };
  };

  /**
   * One HTTP request under a lease. It ends before the lease expires: time cannot pass beyond it while it is in flight.
   */
  const send = async (request: ResolvedRequest, attempt: Attempt): Promise<SubmitResult> => {
    const { requestIndex, attemptNumber } = attempt;
    engine.setRequestTimeout(clock.now + SUBMIT_SECONDS);
    await canDieHere();
    const accept = () => model.acceptJob(request, attemptKeyOf(requestIndex, attemptNumber));
    const response = decisions.pick([
      ...(["accepted", "accepted", "accepted", "finished", "busy", "rejected"] as const),
      ...(["response_lost", "request_lost", "unsent"] as const),
    ]);
    const job: ProviderJob | undefined =
      response === "accepted" || response === "finished" || response === "response_lost" ? accept() : undefined;
    await canDieHere();
    engine.setRequestTimeout(undefined);
    switch (response) {
      case "accepted":
        model.saveTicket(attempt, job!.ticket);
        await canDieHere();
        return { state: "running", attemptNumber, ticket: { job: String(job!.ticket) } };
      case "finished":
        job!.state = "done";
        return finished(attempt, request);
      case "busy":
      case "unsent":
        // An earlier request with this key may have been accepted, so the key must not change.
        if (attempt.isResent) return { state: "wait", attemptNumber, delaySeconds: 2 };
        attempt.state = "failed";
        return {
          ...{ state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: response === "busy" ? 2 : 0 },
          ...(decisions.happens(2) && { offer: { provider: "second", upstreamModel: "model" } }),
        };
      case "rejected":
        throw failAttempt(attempt, new Fault("provider_rejected_input"));
      case "response_lost":
      case "request_lost":
        attempt.leaseUntil = clock.now;
        return { state: "wait", attemptNumber, delaySeconds: 1 };
    }
  };

  const resend = async (request: ResolvedRequest, attempt: Attempt): Promise<SubmitResult> => {
    const { attemptNumber } = attempt;
    if (attempt.leaseUntil > clock.now || !model.findClaimed(claim))
      return { state: "wait", attemptNumber, delaySeconds: 1 };
    attempt.leaseUntil = clock.now + LEASE_SECONDS;
    attempt.isResent = model.recoveryOf(request.requestIndex) === "replay";
    const result = await send(request, attempt);
    return result.state === "running" || result.state === "produced" ? { ...result, offer: request.offer } : result;
  };

  const giveUpUnlessCallback = (attempt: Attempt): SubmitResult => {
    attempt.state = "unknown";
    attempt.unknownSince ??= clock.now;
    if (clock.now - attempt.unknownSince < CALLBACK_GRACE_SECONDS)
      return { state: "wait", attemptNumber: attempt.attemptNumber, delaySeconds: 15 };
    throw failAttempt(attempt, new Fault("provider_outcome_unknown"));
  };

  const resolveUnknownOutcome = (request: ResolvedRequest): Promise<SubmitResult> | SubmitResult => {
    const attempt = model.findLatestAttempt(request.requestIndex)!;
    const { attemptNumber, provider } = attempt;
    const offer = { provider, upstreamModel: "model" };
    if (attempt.state === "succeeded") return { ...produced(attempt), offer } as SubmitResult;
    if (attempt.ticket !== undefined) return { state: "running", attemptNumber, offer };
    if (attempt.finalFault) throw new Fault(attempt.finalFault.code);
    if (attempt.state === "failed") return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: 0 };
    if (attempt.state === "intent" && attempt.leaseUntil > clock.now)
      return { state: "wait", attemptNumber, delaySeconds: attempt.leaseUntil - clock.now + 0.5 };
    const original = { ...request, offer };
    const recovery = model.recoveryOf(request.requestIndex);
    if (recovery === "replay") return resend(original, attempt);
    if (recovery === "none") return giveUpUnlessCallback(attempt);
    const key = attemptKeyOf(request.requestIndex, attemptNumber);
    const found = model.providerJobs.find((each) => each.key === key && each.state !== "lost");
    if (found) {
      model.saveTicket(attempt, found.ticket);
      return { state: "running", attemptNumber, offer };
    }
    if (attempt.unknownSince !== undefined && clock.now - attempt.unknownSince >= LOOKUP_GRACE_SECONDS)
      return resend(original, attempt);
    attempt.state = "unknown";
    attempt.unknownSince ??= clock.now;
    return { state: "wait", attemptNumber, delaySeconds: LOOKUP_GRACE_SECONDS + 0.2 };
  };

  const checkRequest = ({ requestIndex, job }: ResolvedRequest) => {
    const jobIndex = jobIndexOf(requestIndex);
    const { sourceSlot } = model.plan.find((each) => each.requestIndex === requestIndex)!;
    const isResolved = model.jobs[jobIndex]!.source !== "none";
    const ownSource = sourceSlot === undefined ? `source of ${jobIndex}` : `file of ${requestIndex - 1}`;
    const images = (job.images ?? []).map(({ asset_id }) => asset_id);
    if (job.prompt !== `${requestIndex}` || images.join() !== (isResolved ? ownSource : ""))
      throw new InvariantViolation(
        "requests and results belong to their job",
        `${requestIndex} got ${JSON.stringify(job)}`,
      );
  };

  return {
    async planRequests() {
      const openRun = model.findClaimed(claim);
      if (!openRun) return null;
      openRun.isStarted = true;
      if (decisions.happens(60)) throw new Fault("model_unavailable");
      return {
        requests: model.plan.map((request) => {
          const output = model.outputs.get(request.requestIndex);
          if (!output) return request;
          const { provider, ...result } = output;
          return { ...request, earlierResult: { ...result, offer: { provider, upstreamModel: "model" } } };
        }),
      };
    },

    async resolveSources(_claim, job, filesByJob) {
      const jobIndex = jobIndexOf(Number(job.prompt));
      const [source] = job.images!;
      if ("job" in source!) {
        const given = (filesByJob[source.job] ?? []).map((file: StoredAsset) => file.asset_id);
        const expected = filesOf(model, source.job).map((file) => file.asset_id);
        if (given.join() !== expected.join())
          throw new InvariantViolation("requests and results belong to their job", `source ${given} for ${expected}`);
      }
      if (decisions.happens(20)) throw new Fault("asset_unavailable");
      // A source is fetched once and stored, so a later invocation finds it.
      if (!model.resolvedJobs.has(jobIndex) && decisions.happens(40)) throw new Fault("source_fetch_failed");
      if (!model.findClaimed(claim)) return { state: "claim_lost" };
      model.resolvedJobs.add(jobIndex);
      const isEach = "job" in source! && source.each;
      const assetIds = isEach ? filesByJob[source.job]!.map((file) => file.asset_id) : [`source of ${jobIndex}`];
      const images = assetIds.map((asset_id) => ({ asset_id, media_type: "image/png" }));
      return { state: "resolved", job: { ...job, images } as never };
    },

    async submit(_claim, request, attempt) {
      const { requestIndex, offer } = request;
      const { attemptNumber, wakeupId } = attempt;
      checkRequest(request);
      const key = attemptKeyOf(requestIndex, attemptNumber);
      if (decisions.happens(12)) return waitForSlot(request, attempt);
      if (!model.attempts.has(key) && decisions.happens(15))
        return {
          state: "retry",
          attemptNumber,
          delaySeconds: 0,
          offer: { provider: "second", upstreamModel: "model" },
        };
      const fenced = fenceAndRegister(requestIndex, wakeupId);
      if (fenced !== "held") return giveUpSubmission(fenced, requestIndex);
      if (model.attempts.has(key)) return resolveUnknownOutcome(request);
      const claimed: Attempt = {
        ...{ requestIndex, attemptNumber, provider: offer.provider },
        ...{ state: "intent", leaseUntil: clock.now + LEASE_SECONDS },
      };
      model.attempts.set(key, claimed);
      return send(request, claimed);
    },

    async collectResult(_claim, request, { attemptNumber, ticket }) {
      if (!ticket && !model.findClaimed(claim)) return { state: "claim_lost" };
      // With its ticket, a job is collected without a look at the attempts: those of a later invocation do not matter.
      const key = attemptKeyOf(request.requestIndex, attemptNumber);
      const attempt = ticket ? model.attempts.get(key) : model.findLatestAttempt(request.requestIndex);
      if (engine.isAbandoned() && attempt?.attemptNumber !== attemptNumber) return { state: "claim_lost" };
      if (attempt?.attemptNumber !== attemptNumber || attempt.ticket === undefined)
        throw new InvariantViolation(
          "requests and results belong to their job",
          `no attempt ${attemptNumber} to collect`,
        );
      if (decisions.happens(15)) throw new Fault("dependency_unavailable");
      const job = model.providerJobs[attempt.ticket]!;
      switch (job.state) {
        case "running":
          return { state: "running", attemptNumber };
        case "done":
          await canDieHere();
          return finished(attempt, request);
        case "lost": {
          const found = model.providerJobs.find((each) => each.key === key && each.state !== "lost");
          if (found && model.recoveryOf(request.requestIndex) === "find") {
            attempt.ticket = found.ticket;
            return { state: "running", attemptNumber };
          }
          attempt.state = "failed";
          return { state: "retry", attemptNumber: attemptNumber + 1, delaySeconds: decisions.pick([0, 3]) };
        }
        case "failed":
        case "canceled":
          throw failAttempt(attempt, new Fault("provider_error"));
      }
    },

    async registerWakeup(_claim, request, { wakeupId }) {
      const fenced = fenceAndRegister(request.requestIndex, wakeupId);
      if (fenced !== "held") return { state: fenced };
      if (clock.now <= DEADLINE_SECONDS) return { state: "registered" };
      await this.cancelAtProvider(claim, request);
      throw new Fault("provider_timeout");
    },

    async cancelAtProvider(_claim, request) {
      const ticket = model.findLatestAttempt(request.requestIndex)?.ticket;
      if (ticket === undefined) return;
      const job = model.providerJobs[ticket]!;
      model.canceledTickets.add(ticket);
      if (job.state === "running") job.state = "canceled";
    },

    async releaseRequest(_claim, { requestIndex }) {
      model.findClaimed(claim)?.openRequests.delete(requestIndex);
    },

    async finishRun(_claim, outcome) {
      if (model.findClaimed(claim)) model.endRun(structuredClone(outcome), invocation);
      await canDieHere();
    },
  };
}

/** All stored files of a job, in the order of its requests. */
export const filesOf = ({ plan, outputs }: RunModel, jobIndex: number) =>
  plan
    .filter((request) => request.jobIndex === jobIndex)
    .flatMap(({ requestIndex }) => outputs.get(requestIndex)?.files ?? []);
