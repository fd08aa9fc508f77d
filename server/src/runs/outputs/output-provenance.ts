// Gives an output its provenance before it is stored: a mark, or a signed manifest whose ingredients are the sources of
// the request. Where signing is on, no output gets past this step unsigned: while the signer is unavailable, the step
// throws and is repeated.

import type { Job } from "../../contract/operation.ts";
import type { Database } from "../../db/connect.ts";
import { findAsset, findAssets } from "../../db/files/assets.ts";
import { Fault } from "../../faults/faults.ts";
import { detectType } from "../../files/formats/detect-type.ts";
import type { InspectedImage } from "../../files/images/image-decoder.ts";
import { describeOrigin, type OriginSource, type OutputOrigin } from "../../files/provenance/digital-source-type.ts";
import { describeStored, type ProvenanceService, type ProvenFile } from "../../files/provenance/provenance-service.ts";
import type { FileMark } from "../../files/provenance/xmp-packet.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { AssetRef } from "../../providers/provider.ts";
import { MAX_SIGNED_BYTES } from "./fetch-output.ts";
import type { FindProvenancePolicy } from "./provenance-policy.ts";

export type ProvenanceDependencies = {
  database: Database;
  assets: { storage: Pick<AssetStore["storage"], "bytes"> };
  provenance: ProvenanceService;
  findProvenancePolicy: FindProvenancePolicy;
};

/** What a manifest says about a request. All fields are absent in spool files of earlier versions. */
export type ProvenJob = Partial<Pick<Job<AssetRef>, "task" | "model" | "prompt" | "images" | "mask" | "masks">>;

type FileType = Omit<InspectedImage, "media_type"> & { media_type: string };
type UnprovenOutput = {
  asset_id: string;
  bytes: Uint8Array;
  /** The file as the provider returned it, before a conversion. */
  received: Uint8Array;
  inspected: FileType;
  job: ProvenJob;
  provider: string;
};
/** `mark`: what the thumbnails are marked with. */
export type ProvenOutput = ProvenFile & { mark?: FileMark };

export type RunRef = { run_id: string; tenant_id: string };

export async function proveOutput(
  dependencies: ProvenanceDependencies,
  run: RunRef,
  output: UnprovenOutput,
): Promise<ProvenOutput> {
  const { provenance, findProvenancePolicy } = dependencies;
  const policy = await findProvenancePolicy(run.tenant_id);
  if (policy.mode === "off") return { bytes: output.bytes };
  const { asset_id, bytes, job, inspected } = output;
  const { origin, mark } = describeOutput(run, output);
  // The provider may have returned another format than the output has.
  const received = { bytes: output.received, media_type: detectType(output.received) ?? inspected.media_type };
  const file = { bytes, received, mark };
  if (policy.mode === "mark") return { ...provenance.mark({ ...file, media_type: inspected.media_type }), mark };
  const earlier = await readEarlier(dependencies, asset_id);
  if (earlier) return { bytes: earlier, provenance: describeStored(earlier, inspected.media_type, mark), mark };
  const sources = await readSources(dependencies, run, job, origin);
  const facts = {
    ...{ run_id: run.run_id, asset_id, media_type: inspected.media_type, origin, provider: output.provider },
    ...{ task: job.task, model: job.model, prompt: policy.publishesPrompt ? job.prompt : undefined },
    sources: sources.map(({ source }) => source),
  };
  const files = sources.map((each) => each.bytes);
  return { ...(await provenance.sign(file, facts, files)), mark };
}

/** What a mark says about an output. */
export function describeOutput(run: RunRef, { asset_id, job }: { asset_id: string; job: ProvenJob }) {
  const origin = describeOrigin(job.task, listSources(job));
  const mark: FileMark = { run_id: run.run_id, asset_id, digitalSourceType: origin.digitalSourceType };
  return { origin, mark };
}

const listSources = ({ images = [], mask, masks = [] }: ProvenJob): OriginSource[] => [
  ...images.flatMap(listOriginals).map((image) => toSource(image, "image")),
  ...[...(mask ? [mask] : []), ...masks].flatMap(listOriginals).map((each) => toSource(each, "mask")),
];

/** A still or a prepared mask is a copy for the provider. What it was made from has a run and perhaps a manifest. */
const listOriginals = (source: AssetRef): AssetRef[] => source.made_from ?? [source];

const toSource = ({ asset_id, media_type, is_result }: AssetRef, usage: OriginSource["usage"]): OriginSource => ({
  asset_id,
  media_type,
  usage,
  isResult: is_result === true,
});

/** A signature differs each time, so a file whose row exists is not signed again: the row names the stored bytes. */
async function readEarlier({ database, assets }: ProvenanceDependencies, assetId: string) {
  const earlier = await findAsset(database, assetId);
  return earlier && assets.storage.bytes(earlier.storage_key);
}

/** Of other files, such as sound, a manifest cannot have ingredients. */
const INGREDIENT_TYPES = ["image/png", "image/jpeg", "image/webp", "video/mp4"];

/**
 * Sources that were deleted meanwhile are left out: nothing can be said about their content. So are videos that are too
 * large for the memory.
 */
async function readSources(
  { database, assets }: ProvenanceDependencies,
  { tenant_id }: RunRef,
  job: ProvenJob,
  { relationships }: OutputOrigin,
) {
  const listed = listSources(job);
  const rows = await findAssets(database, tenant_id, [...new Set(listed.map(({ asset_id }) => asset_id))]);
  const found = await Promise.all(
    listed.map(async ({ asset_id }, index) => {
      const row = rows.find((each) => each.asset_id === asset_id);
      if (!row || row.deleted_at || row.size_bytes > MAX_SIGNED_BYTES) return [];
      if (!INGREDIENT_TYPES.includes(row.media_type)) return [];
      const bytes = await assets.storage.bytes(row.storage_key);
      if (!bytes) throw new Fault("asset_unavailable", { asset_id });
      const { run_id, media_type } = row;
      return [{ bytes, source: { asset_id, run_id, media_type, relationship: relationships[index]! } }];
    }),
  );
  return found.flat();
}
