// Expectations of the suite on responses: accepted, rejected and why, and what reached the provider.
import { expect } from "vitest";
import { type ApiResponse, readSandboxLedger, type SandboxLedgerEntry } from "../support/api-caller.ts";
import { MODEL_IDS } from "../support/custom-models.ts";
import type { Suite } from "./suite.ts";

export type Body = Record<string, unknown>;

/** A prompt whose job never ends, so that a run which only has to be accepted costs nothing and can be canceled. */
export const ENDLESS_PROMPT = "[sandbox:never] x";

/** What the wan models need: a custom model that the caller may use, and two LoRAs of the second. */
export const LORAS = { lora_low_name: "ink-low", lora_high_name: "ink-high" };
export const CUSTOM_MODEL_FIELDS = { model_id: MODEL_IDS["wan-image-2.1"], width: 64, height: 64 };
export const CUSTOM_MODEL_FIELDS_2_2 = { ...CUSTOM_MODEL_FIELDS, model_id: MODEL_IDS["wan-image-2.2"] };

/** The least that each model type of the document needs, beside the prompt. */
export const minimalFields = (suite: Suite): Record<string, Body> => ({
  "flux-dev": {},
  "vendorb-imagen4": { aspect_ratio: "1:1" },
  "flux-kontext-max": {},
  vendora: {},
  "wan-image-2.1": CUSTOM_MODEL_FIELDS,
  "wan-image-2.2": { ...CUSTOM_MODEL_FIELDS_2_2, ...LORAS },
  "flux-kontext-multi": { image_urls: [suite.imageUrl("a.png"), suite.imageUrl("b.png")] },
  nanobanana: {},
  "qwen-image-edit": { width: 64, height: 64 },
  "gemini-2.5": {},
});

export const fieldErrorsOf = ({ body }: ApiResponse): { path: string; code: string }[] => body.details?.errors ?? [];

/** Refused as invalid, for this field and this reason and no other. */
export function expectFieldError(response: ApiResponse, path: string, code: string): void {
  expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
  expect(fieldErrorsOf(response).map((error) => `${error.path} ${error.code}`)).toEqual([`${path} ${code}`]);
}

/** Sends a request that must be accepted, and cancels its run. Returns the body of the first response. */
export async function expectAccepted(
  suite: Suite,
  path: string,
  body: unknown,
  headers?: Record<string, string>,
): Promise<any> {
  const response = await suite.caller.post(path, body, headers);
  expect({ status: response.status, errors: fieldErrorsOf(response) }).toEqual({ status: 202, errors: [] });
  await suite.caller.post(`/runs/${response.headers.get("x-run-id")}/cancel`);
  return response.body;
}

/** The same for generate, with a prompt that costs nothing unless another is given. */
export const expectGenerateAccepted = (suite: Suite, body: Body, headers?: Record<string, string>) =>
  expectAccepted(suite, "/runs/generate", { prompt: ENDLESS_PROMPT, ...body }, headers);

/** Does something that must not make a run. */
export async function expectNoNewRun<T>(suite: Suite, act: () => Promise<T>): Promise<T> {
  const newest = async () => (await suite.caller.get("/runs?limit=1")).body.data[0]?.run_id;
  const before = await newest();
  const result = await act();
  expect(await newest()).toBe(before);
  return result;
}

/** The entries of a run's jobs in the sandbox ledger, in the order in which they were sent. */
export const listSandboxJobs = async (suite: Suite, runId: string): Promise<SandboxLedgerEntry[]> =>
  (await readSandboxLedger(suite.environment)).filter((job) => job.reference?.startsWith(runId));

/** The entry of a run's only job in the sandbox ledger. */
export async function findSandboxJob(suite: Suite, runId: string): Promise<SandboxLedgerEntry> {
  const jobs = await listSandboxJobs(suite, runId);
  expect(jobs).toHaveLength(1);
  return jobs[0]!;
}
