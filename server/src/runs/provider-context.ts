// What an adapter gets into its hands: its own settings, the job's name on both sides, and pictures it can read.
import { findAsset } from "../db/runs/assets.ts";
import type { AttemptRef } from "../db/runs/attempts.ts";
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { Asset, AssetRef, ProviderContext } from "../providers/provider.ts";
import { attemptKey } from "./ids.ts";
import type { EnabledProvider, Services } from "./services.ts";

/** `synchronousSeconds` is how long the one request may take; `silentSeconds` how long the provider has not been reachable. */
type ContextOptions = { synchronousSeconds?: number | undefined; unreachableSeconds?: number | undefined };

export function createProviderContext(
  services: Services,
  live: EnabledProvider,
  id: AttemptRef,
  about: ContextOptions = {},
): ProviderContext<unknown> {
  const timeoutSeconds = about.synchronousSeconds ?? services.limits.submitSeconds;
  // One end for everything that is sent with it: an upload and the submission after it together stay within the lease.
  const until = performance.now() + timeoutSeconds * 1000;
  const remainingSeconds = () => Math.max(0.001, (until - performance.now()) / 1000);
  return {
    env: live.env,
    key: attemptKey(id.run_id, id.request_index, id.attempt_number),
    // Signed only when it is sent: most questions to a provider need no address to call back.
    get callbackUrl() {
      return services.isReachable || live.provider.canAlwaysCallBack
        ? services.callbackUrl(live.provider.id, { run_id: id.run_id, job: id.request_index, try: id.attempt_number })
        : undefined;
    },
    send: (url, request) => services.sendToProvider(url, { ...request, timeoutSeconds: remainingSeconds() }),
    timeoutSeconds,
    isPublicUrlReachable: services.isReachable,
    unreachableSeconds: about.unreachableSeconds ?? 0,
  };
}

/** The job with its pictures readable. Addresses are signed and bytes read only when the adapter asks. */
export async function withReadableAssets(services: Services, job: Job<AssetRef>): Promise<Job<Asset>> {
  const toReadableAsset = (ref: AssetRef): Asset => ({
    ...ref,
    url: async () => services.assetUrl(ref.asset_id, ref.media_type),
    bytes: () => readAssetBytes(services, ref.asset_id),
  });
  return {
    ...job,
    images: job.images?.map(toReadableAsset),
    masks: job.masks?.map(toReadableAsset),
    mask: job.mask && toReadableAsset(job.mask),
  };
}

async function readAssetBytes(services: Services, assetId: string): Promise<Uint8Array> {
  const row = await findAsset(services.db, assetId);
  const bytes = row && (await services.storage.bytes(row.storage_key));
  if (!bytes) throw new Fault("asset_unavailable", { asset_id: assetId });
  return bytes;
}
