// Binds the steps of a run to the services of this process.
import { releaseRequest } from "../db/runs/open-requests.ts";
import { cancelAtProvider, collectResult, registerWakeup } from "./collect-result.ts";
import type { RunSteps } from "./execute.ts";
import { finishRun } from "./finish.ts";
import { planRequests } from "./plan-requests.ts";
import { MAX_SOURCE_BYTES, resolveSources } from "./resolve-sources.ts";
import type { Services } from "./services.ts";
import { createSourceBuffer } from "./source-buffer.ts";
import { submit } from "./submit.ts";

export type RunStepServices = Omit<Services, "webhooks" | "logExhaustedBudget">;

export const runSteps = (services: RunStepServices): RunSteps => {
  const sourceBuffer = createSourceBuffer(services.byteBudget, MAX_SOURCE_BYTES);
  return {
    planRequests: (claim, plan) => planRequests(services, claim, plan),
    resolveSources: (claim, job, filesByJob) => resolveSources({ ...services, sourceBuffer }, claim, job, filesByJob),
    submit: (claim, request, attempt) => submit(services, claim, request, attempt),
    collectResult: (claim, request, attempt) => collectResult(services, claim, request, attempt),
    registerWakeup: (claim, request, wakeup) => registerWakeup(services, claim, request, wakeup),
    cancelAtProvider: (claim, request) => cancelAtProvider(services, claim, request),
    releaseRequest: (claim, request) => releaseRequest(services.database, claim, request.requestIndex),
    finishRun: (claim, outcome) => finishRun(services, claim, outcome),
  };
};
