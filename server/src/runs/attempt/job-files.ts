// The files of a provider request: makes its sources readable for the adapter, and stores its results. Both are bound
// to storage here, so that the steps which submit and collect do not need to know storage, decoding or fetching.

import type { Job } from "../../contract/operation.ts";
import { findAsset } from "../../db/files/assets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault } from "../../faults/faults.ts";
import type { Asset, AssetRef, JobDone } from "../../providers/provider.ts";
import type { EnabledProvider } from "../offers/provider-registry.ts";
import {
  type OutputDependencies,
  type ProducingRequest,
  type StoredOutputs,
  storeOutputs,
} from "../outputs/store-outputs.ts";
import type { SuspectRuns } from "../ownership/suspect-runs.ts";

export type JobFiles = {
  /** Returns the job with sources that sign their URL, or read their bytes, only when the adapter asks. */
  open(job: Job<AssetRef>): Job<Asset>;
  /** Stores the results and records them on the request, or completes the run with them. Idempotent. */
  storeOutputs(
    claim: RunClaim,
    request: ProducingRequest,
    enabledProvider: EnabledProvider,
    done: Pick<JobDone, "outputs" | "data" | "raw" | "usage">,
  ): Promise<StoredOutputs>;
};

export const createJobFiles = (dependencies: OutputDependencies, suspects: Pick<SuspectRuns, "guard">): JobFiles => ({
  open(job) {
    const toReadableAsset = (ref: AssetRef): Asset => ({
      ...ref,
      url: async () => dependencies.assets.signUrl(ref.asset_id, ref.media_type),
      bytes: () => readAssetBytes(dependencies, ref.asset_id),
    });
    return {
      ...job,
      images: job.images?.map(toReadableAsset),
      masks: job.masks?.map(toReadableAsset),
      mask: job.mask && toReadableAsset(job.mask),
    };
  },
  async storeOutputs(claim, ...request) {
    const stored = await suspects.guard(claim.run_id, () => storeOutputs(dependencies, claim, ...request));
    // A run in quarantine has a new epoch.
    return stored ?? { state: "claim_lost" };
  },
});

async function readAssetBytes(
  { database, assets }: Pick<OutputDependencies, "database" | "assets">,
  assetId: string,
): Promise<Uint8Array> {
  const row = await findAsset(database, assetId);
  const bytes = row && (await assets.storage.bytes(row.storage_key));
  if (!bytes) throw new Fault("asset_unavailable", { asset_id: assetId });
  return bytes;
}
