// Asks the server for the price of a request, which also validates it without starting a run.
import type { Estimate, RunsEstimateInput } from "@gesso/client";
import { client } from "../api/client.ts";
import type { DraftRequest } from "./draft.ts";

export const estimateRequest = async ({ operation, input }: DraftRequest, signal?: AbortSignal): Promise<Estimate> =>
  client.runs.estimate({ operation, input } as unknown as RunsEstimateInput, {
    maxRetries: 0,
    ...(signal && { signal }),
  });
