// Binds the steps of a run to the capabilities of this process.
import { releaseRequest } from "../../db/attempts/open-requests.ts";
import type { AttemptDependencies } from "../attempt/attempt-dependencies.ts";
import { cancelAtProvider, collectResult, registerWakeup } from "../attempt/collect-result.ts";
import { submit } from "../attempt/submit.ts";
import type { ByteBudget } from "../outputs/byte-budget.ts";
import { finishRun } from "../outputs/finish.ts";
import { type ResolveDependencies, resolveSources } from "../sources/resolve-sources.ts";
import { createSourceBuffer } from "../sources/source-buffer.ts";
import { MAX_SOURCE_BYTES } from "../sources/store-source.ts";
import type { RunSteps } from "../steps.ts";
import { type PlanDependencies, planRequests } from "./plan-requests.ts";

/** What the steps of each folder use. */
export type StepDependencies = {
  plan: PlanDependencies;
  sources: ResolveDependencies & { byteBudget: ByteBudget };
  attempt: AttemptDependencies;
};

export const runSteps = ({ plan, sources, attempt }: StepDependencies): RunSteps => {
  const sourceBuffer = createSourceBuffer(sources.byteBudget, MAX_SOURCE_BYTES);
  return {
    planRequests: (claim, jobs) => planRequests(plan, claim, jobs),
    resolveSources: (claim, job, filesByJob) => resolveSources({ ...sources, sourceBuffer }, claim, job, filesByJob),
    submit: (claim, request, start) => submit(attempt, claim, request, start),
    collectResult: (claim, request, submitted) => collectResult(attempt, claim, request, submitted),
    registerWakeup: (claim, request, wakeup) => registerWakeup(attempt, claim, request, wakeup),
    cancelAtProvider: (claim, request) => cancelAtProvider(attempt, claim, request),
    releaseRequest: (claim, request) => releaseRequest(attempt.database, claim, request.requestIndex),
    finishRun: (claim, outcome) => finishRun(attempt, claim, outcome),
  };
};
