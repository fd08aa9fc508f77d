// What an adapter gets into its hands: its own settings, the job's name on both sides, and pictures it can read.
import { findAsset } from "../db/assets.ts";
import type { AttemptId } from "../db/attempts.ts";
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { Asset, AssetRef, Context } from "../providers/provider.ts";
import type { House, LiveProvider } from "./house.ts";
import { attemptKey } from "./ids.ts";

/** `blocksSeconds` is how long the one request may take; `silentSeconds` how long the provider has not been reachable. */
type About = { blocksSeconds?: number | undefined; silentSeconds?: number | undefined };

export function providerContext(house: House, live: LiveProvider, id: AttemptId, about: About = {}): Context<unknown> {
  const timeoutSeconds = about.blocksSeconds ?? house.limits.submitSeconds;
  // One end for everything that is sent with it: an upload and the submission after it together stay within the lease.
  const until = performance.now() + timeoutSeconds * 1000;
  const left = () => Math.max(0.001, (until - performance.now()) / 1000);
  return {
    env: live.env,
    key: attemptKey(id.run_id, id.job, id.try),
    // Signed only when it is sent: most questions to a provider need no address to call back.
    get callbackUrl() {
      return house.isReachable || live.provider.isNear ? house.callbackUrl(live.provider.id, id) : undefined;
    },
    send: (url, request) => house.sendToProvider(url, { ...request, timeoutSeconds: left() }),
    timeoutSeconds,
    isReachable: house.isReachable,
    silentSeconds: about.silentSeconds ?? 0,
  };
}

/** The job with its pictures readable. Addresses are signed and bytes read only when the adapter asks. */
export async function handOver(house: House, job: Job<AssetRef>): Promise<Job<Asset>> {
  const readable = (ref: AssetRef): Asset => ({
    ...ref,
    url: async () => house.assetUrl(ref.asset_id, ref.media_type),
    bytes: () => bytesOf(house, ref.asset_id),
  });
  return {
    ...job,
    images: job.images?.map(readable),
    masks: job.masks?.map(readable),
    mask: job.mask && readable(job.mask),
  };
}

async function bytesOf(house: House, assetId: string): Promise<Uint8Array> {
  const row = await findAsset(house.db, assetId);
  const bytes = row && (await house.storage.bytes(row.storage_key));
  if (!bytes) throw new Fault("asset_unavailable", { asset_id: assetId });
  return bytes;
}
