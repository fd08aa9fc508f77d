// The life of a run, top to bottom. What a step returns is JSON and is journalled: after a crash or a deploy the run goes
// on from what was decided. Nothing here knows which engine carries it.
import type { RunClaim } from "../db/runs/open-runs.ts";
import type { StoredAsset, StoredRunResult } from "../db/runs/runs.ts";
import { Fault, type PublicFault, toFault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import type { AssetRef, SelectedOffer } from "../providers/provider.ts";
import { toRunFault } from "./run-fault.ts";
import type { WakeupReason } from "./services.ts";

/** The port to the durable engine. A wakeup (awakeable) can be resolved once from outside; waiting for it returns its reason, or undefined on timeout. */
export type RunEngine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  createWakeup(): Wakeup;
};
export type Wakeup = { id: string; wait(seconds: number): Promise<WakeupReason | undefined> };

/**
 * The provider requests of a run, in order. A job that asks for more results than its offer returns per request becomes
 * several requests: `jobIndex` is the job in the plan, `requestIndex` the number of the request itself.
 */
export type RunPlan = { jobs: PlannedRequest[] };
type PlannedRequest = { n: number; planned: number; job: Job; choice: SelectedOffer; made?: EarlierResult };
type EarlierResult = { files: StoredAsset[]; data?: JsonObject; choice: SelectedOffer };
export type ResolvedRequest = { n: number; job: Job<AssetRef>; choice: SelectedOffer };

/**
 * Result of a submission. `running`: the provider has the job; `offer` is set if an earlier attempt was adopted.
 * `retry`: the provider did not accept the job; submit again as `attemptNumber`, with `offer` if another one was selected.
 * `wait`: the outcome is unknown or no slot is free; call submit again as `attemptNumber` after the delay.
 */
export type SubmitResult =
  | { state: "running"; try: number; choice?: SelectedOffer }
  | ProducedState
  | RetryState
  | { state: "wait"; try: number; seconds: number }
  | EndedState;
type RetryState = { state: "retry"; try: number; seconds: number; choice?: SelectedOffer };
export type CollectResult = { state: "running" } | ProducedState | RetryState | EndedState;
export type ProducedState = { state: "produced"; files: StoredAsset[]; data?: JsonObject; warnings: string[] };
/** `claim_lost`: the run has ended or a later epoch has claimed it. `canceled`: its owner asked to cancel it. */
type EndedState = { state: "claim_lost" } | { state: "canceled" };

/** The hands that do the work; each is a file beside this one. */
export type RunSteps = {
  begin(claim: RunClaim): Promise<RunPlan | null>;
  resolveSources(claim: RunClaim, n: number, job: Job, made: StoredAsset[][]): Promise<Job<AssetRef>>;
  submit(claim: RunClaim, work: ResolvedRequest, attempt: { try: number; wakeId: string }): Promise<SubmitResult>;
  collectResult(claim: RunClaim, work: ResolvedRequest, attempt: { try: number }): Promise<CollectResult>;
  arm(claim: RunClaim, work: ResolvedRequest, bell: { wakeId: string; seconds: number }): Promise<WakeupResult>;
  cancelAtProvider(claim: RunClaim, work: ResolvedRequest): Promise<void>;
  finishRun(claim: RunClaim, end: RunOutcome): Promise<void>;
};
export type WakeupResult = { state: "armed" } | EndedState;
export type RunOutcome =
  | { status: "completed"; result: StoredRunResult; finishedRequests: FinishedRequest[]; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

/** A job with who did it in the end, and what it made. */
export type FinishedRequest = { job: Job; choice: SelectedOffer; files: StoredAsset[] };

const FIRST_COLLECT_WAIT_SECONDS = 60;
const MAX_COLLECT_WAIT_SECONDS = 600;

export async function executeRun(claim: RunClaim, engine: RunEngine, steps: RunSteps): Promise<void> {
  const end = await runToOutcome(claim, { engine, hands: steps }).catch((thrown) => failedOutcome(toFault(thrown)));
  if (end) await engine.step("finish", () => steps.finishRun(claim, end));
}

const failedOutcome = (fault: Fault): RunOutcome => ({ status: "failed", error: toRunFault(fault).body() });
const canceledOutcome = (): RunOutcome => ({ status: "canceled", error: new Fault("canceled_by_user").body() });

type StepContext = { engine: RunEngine; hands: RunSteps };

async function runToOutcome(claim: RunClaim, { engine, hands: steps }: StepContext): Promise<RunOutcome | undefined> {
  const begun = await engine.step("begin", () => steps.begin(claim));
  return begun ? runRequests(claim, begun, { engine, hands: steps }) : undefined;
}

/** Returns undefined if the claim was lost: another invocation ends the run. */
async function runRequests(
  claim: RunClaim,
  begun: RunPlan,
  { engine, hands: steps }: StepContext,
): Promise<RunOutcome | undefined> {
  const filesByJob: StoredAsset[][] = [];
  const done: FinishedRequest[] = [];
  const warnings: string[] = [];
  const resultData: JsonObject[] = [];
  const addResult = (
    { planned, job }: PlannedRequest,
    { files, data, choice }: { files: StoredAsset[]; data?: JsonObject; choice: SelectedOffer },
  ) => {
    filesByJob[planned] = [...(filesByJob[planned] ?? []), ...files];
    done.push({ job, choice, files });
    if (data) resultData.push(data);
  };
  let resolvedSources: { planned: number; job: Job<AssetRef> } | undefined;
  for (const part of begun.jobs) {
    const { n, planned, choice } = part;
    if (part.made) {
      addResult(part, part.made);
      continue;
    }
    if (resolvedSources?.planned !== planned)
      resolvedSources = { planned, job: await resolveJobSources(claim, part, filesByJob, { engine, hands: steps }) };
    const job = { ...part.job, ...sourcesOf(resolvedSources.job) } as Job<AssetRef>;
    const result = await runRequest(claim, { n, job, choice }, { engine, hands: steps }).catch((thrown) => {
      // What has been made and paid for is not thrown away because more of the same could not be had.
      const before = filesByJob[planned]?.length ?? 0;
      if (before === 0) throw thrown;
      warnings.push(`Only ${before} of the results could be produced: ${toFault(thrown).message}`);
    });
    if (!result) continue;
    if (result.state === "claim_lost") return undefined;
    if (result.state === "canceled") return canceledOutcome();
    addResult(part, result);
    warnings.push(...result.warnings);
  }
  const data = resultData.at(-1);
  const result = {
    outputs: filesByJob.at(-1) ?? [],
    ...(filesByJob.length > 1 && { jobs: filesByJob }),
    ...(data && { data }),
  };
  return { status: "completed", result, finishedRequests: done, warnings };
}

const sourcesOf = ({ images, mask, masks }: Job<AssetRef>) => ({ images, mask, masks });

async function resolveJobSources(
  claim: RunClaim,
  { n, job }: PlannedRequest,
  made: StoredAsset[][],
  { engine, hands: steps }: StepContext,
): Promise<Job<AssetRef>> {
  const hasSources = [job.images, job.mask, job.masks].some((source) => source !== undefined);
  return hasSources
    ? engine.step(`${n}.resolve-sources`, () => steps.resolveSources(claim, n, job, made))
    : (job as Job<AssetRef>);
}

/** Submits until somebody has the job, waits until it is made, and begins anew where a provider has lost it. */
async function runRequest(
  claim: RunClaim,
  asked: ResolvedRequest,
  { engine, hands: steps }: StepContext,
): Promise<(ProducedState & { choice: SelectedOffer }) | EndedState> {
  let work = asked;
  let attempt = 1;
  for (let round = 0; ; round++) {
    const bell = engine.createWakeup();
    const sent = await engine.step(`${work.n}.submit.${round}`, () =>
      steps.submit(claim, work, { try: attempt, wakeId: bell.id }),
    );
    attempt = "try" in sent ? sent.try : attempt;
    if ("choice" in sent && sent.choice) work = { ...work, choice: sent.choice };
    const jobState =
      sent.state === "running"
        ? await waitForResult(claim, work, { bell, try: attempt, round }, { engine, hands: steps })
        : sent;
    if (jobState.state === "produced") return { ...jobState, choice: work.choice };
    if (jobState.state === "claim_lost" || jobState.state === "canceled") return jobState;
    attempt = jobState.try;
    // A bell that has rung while the job was awaited cannot be waited for again.
    const retryWakeup = sent.state === "running" ? engine.createWakeup() : bell;
    if (jobState.seconds > 0 && (await retryWakeup.wait(jobState.seconds)) === "cancel") return { state: "canceled" };
  }
}

type SubmittedRequest = { bell: Wakeup; try: number; round: number };

async function waitForResult(
  claim: RunClaim,
  work: ResolvedRequest,
  submitted: SubmittedRequest,
  { engine, hands: steps }: StepContext,
): Promise<ProducedState | RetryState | EndedState> {
  let { bell } = submitted;
  // Names of steps tell the tries apart: a job may be awaited more than once.
  const stepName = (step: string, round: number) =>
    `${work.n}.${step}.${submitted.round > 0 ? `${submitted.round}.` : ""}${round}`;
  for (let round = 0; ; round++) {
    const seconds = Math.min(FIRST_COLLECT_WAIT_SECONDS * 2 ** round, MAX_COLLECT_WAIT_SECONDS);
    const reason = await bell.wait(seconds);
    if (reason === "cancel") return cancelRequest(claim, work, { engine, hands: steps });

    const looked = await engine.step(stepName("collect", round), () => steps.collectResult(claim, work, submitted));
    if (looked.state !== "running") return looked;

    // The job is still running, so the wakeup came early or timed out: create a new wakeup and store its id in the open_runs row.
    bell = engine.createWakeup();
    const registration = { wakeId: bell.id, seconds: seconds * 2 };
    const armed = await engine.step(stepName("register-wakeup", round), () => steps.arm(claim, work, registration));
    if (armed.state === "claim_lost") return armed;
    if (armed.state === "canceled") return cancelRequest(claim, work, { engine, hands: steps });
  }
}

async function cancelRequest(
  claim: RunClaim,
  work: ResolvedRequest,
  { engine, hands: steps }: StepContext,
): Promise<EndedState> {
  await engine.step(`${work.n}.cancel`, () => steps.cancelAtProvider(claim, work));
  return { state: "canceled" };
}
