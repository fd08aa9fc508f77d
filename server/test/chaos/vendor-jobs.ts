// The vendors' own record of the jobs they accepted and of the bytes they produced: what Gesso's ledger, its unknown
// outcomes and its files are compared with.
import { createHash } from "node:crypto";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { readSandboxLedger } from "../support/api-caller.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

export type VendorJobRecord = {
  /** The run that the job belongs to, as far as the vendor can tell. */
  run_id: string | undefined;
  status: string;
  /** The vendor accepted the job, and its response did not reach Gesso. */
  isResponseLost: boolean;
  /** When Gesso accepted the callback, in milliseconds. */
  callbackTakenAt: number | undefined;
  /** When the request was under way, in milliseconds; undefined if the vendor did not record it. */
  underWay: { from: number; to: number } | undefined;
  hasProduced(sha256: string): Promise<boolean>;
};

/** A run and a word of its prompt that no other prompt contains. */
type MarkedRun = { run_id: string; word: string };

export const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export async function listSandboxJobs(environment: TestEnvironment): Promise<VendorJobRecord[]> {
  const ledger = await readSandboxLedger(environment);
  return ledger.map((job) => {
    let hashes: Promise<string[]> | undefined;
    return {
      run_id: job.reference?.split(".")[0],
      status: job.status,
      isResponseLost: job.answer_lost,
      callbackTakenAt: job.callback_taken_at ? Date.parse(job.callback_taken_at) : undefined,
      underWay: undefined,
      hasProduced: async (sha256) => {
        hashes ??= hashSandboxOutputs(environment, job.id);
        return (await hashes).includes(sha256);
      },
    };
  });
}

async function hashSandboxOutputs({ sandboxUrl, sandboxKey }: TestEnvironment, jobId: string): Promise<string[]> {
  const response = await fetch(`${sandboxUrl}/v1/jobs/${jobId}`, {
    headers: { authorization: `Bearer ${sandboxKey}` },
  });
  const { outputs } = (await response.json()) as { outputs: { url: string }[] };
  return Promise.all(outputs.map(async ({ url }) => hashOf(new Uint8Array(await (await fetch(url)).arrayBuffer()))));
}

export function listFakeVendorJobs(vendor: FakeVendor, runs: MarkedRun[]): VendorJobRecord[] {
  return vendor.ledger.map((job) => {
    const request = JSON.stringify(job.request);
    return {
      run_id: runs.find(({ word }) => request.includes(word))?.run_id,
      status: job.canceledAt === undefined ? job.outcome : "canceled",
      isResponseLost: job.isResponseLost ?? false,
      callbackTakenAt: undefined,
      underWay: { from: job.acceptedAt, to: job.respondedAt ?? Number.POSITIVE_INFINITY },
      hasProduced: async (sha256) => vendor.producedHashes.has(sha256),
    };
  });
}
