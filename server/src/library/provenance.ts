// Says where files come from: any file that a caller sends, and the stored outputs of a run. Only runs of the caller's
// own tenant are named, whatever a file claims.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RequestContext } from "../access/request-context.ts";
import type { FilePart } from "../contract/files.ts";
import type { FoundRun, ImageMatch, ProvenanceReport, RunProvenance } from "../contract/schemas/provenance.ts";
import { findAssets } from "../db/files/assets.ts";
import { findSimilarImage } from "../db/files/fingerprints.ts";
import { findRun, type RunRow } from "../db/runs/runs.ts";
import { Fault } from "../faults/faults.ts";
import { FINGERPRINT_BITS, MAX_MATCH_DISTANCE } from "../files/images/fingerprint.ts";
import type { ThumbnailMaker } from "../files/images/thumbnail.ts";
import type { ProvenanceService } from "../files/provenance/provenance-service.ts";
import type { FileVerdict } from "../files/provenance/verify-file.ts";
import type { AssetStore } from "../files/storage/asset-store.ts";
import { MAX_SIGNED_BYTES } from "../runs/outputs/fetch-output.ts";
import { renderAsset } from "../runs/show/render-run.ts";
import type { FileTurns } from "../runs/sources/file-turns.ts";

export type ProvenanceReportDependencies = {
  assets: AssetStore;
  provenance: ProvenanceService;
  thumbnails: ThumbnailMaker;
  fileTurns: FileTurns;
};

type Scope = Pick<RequestContext, "database" | "caller">;

export const verifySentFile = (
  { provenance, thumbnails, fileTurns }: Omit<ProvenanceReportDependencies, "assets">,
  scope: Scope,
  file: FilePart,
): Promise<ProvenanceReport> =>
  fileTurns.take(scope.caller.tenant_id, file.size_bytes, async () => {
    const bytes = await readFile(file.path);
    const verdict = await provenance.verify(bytes);
    const run = await findRunOfFile(scope, verdict, file.sha256);
    const isProven = run !== null && run.proof !== "mark";
    return { ...verdict, run, match: isProven ? null : await findMatch(thumbnails, scope, bytes) };
  });

/** Soft binding: finds copies whose metadata was removed. Files that cannot be decoded have no match. */
async function findMatch(
  thumbnails: Pick<ProvenanceReportDependencies["thumbnails"], "fingerprints">,
  { database, caller }: Scope,
  bytes: Uint8Array,
): Promise<ImageMatch | null> {
  const fingerprints = await thumbnails.fingerprints(bytes).catch((thrown) => {
    if (thrown instanceof Fault && isOverload(thrown)) throw thrown;
    return [];
  });
  if (fingerprints.length === 0) return null;
  const similar = await findSimilarImage(database, caller.tenant_id, fingerprints, MAX_MATCH_DISTANCE);
  const run = similar && (await findRun(database, caller.tenant_id, similar.run_id));
  const outputs = [...(run?.result?.outputs ?? []), ...(run?.result?.jobs ?? []).flat()];
  const output = outputs.find((each) => each.thumbnails?.small === similar?.asset_id);
  if (!similar || !run || run.deleted_at || !output) return null;
  return { run_id: run.run_id, asset_id: output.asset_id, distance: similar.distance, bits: FINGERPRINT_BITS };
}

const isOverload = ({ code }: Fault) => code === "service_overloaded" || code === "dependency_unavailable";

export async function reportRunProvenance(
  services: ProvenanceReportDependencies,
  scope: Scope,
  row: RunRow,
): Promise<RunProvenance> {
  const stored = row.result?.outputs ?? [];
  const ids = stored.map(({ asset_id }) => asset_id);
  const files = await findAssets(scope.database, scope.caller.tenant_id, ids);
  const outputs: RunProvenance["outputs"] = [];
  // One file at a time: a run can have many large ones.
  for (const output of stored) {
    const { asset_id, media_type, provenance } = renderAsset(services, output);
    const file = files.find((each) => each.asset_id === asset_id && !each.deleted_at && isVerifiable(each));
    const verify = async (storageKey: string) => {
      const bytes = await services.assets.storage.bytes(storageKey);
      const verdict = bytes && (await services.provenance.verify(bytes));
      if (!verdict) return null;
      return { ...verdict, run: await findRunOfFile(scope, verdict, sha256Of(bytes), asset_id), match: null };
    };
    const report =
      file && (await services.fileTurns.take(scope.caller.tenant_id, file.size_bytes, () => verify(file.storage_key)));
    outputs.push({ asset_id, media_type, provenance, report: report ?? null });
  }
  return { run_id: row.run_id, outputs };
}

/** Verification needs the whole file in memory. Gesso signs no larger ones either. */
const isVerifiable = ({ size_bytes }: { size_bytes: number }) => size_bytes <= MAX_SIGNED_BYTES;

const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/**
 * The run that a file names, if the tenant has it. Manifest and mark are claims: the proof says what was compared with
 * the stored run.
 */
async function findRunOfFile(
  { database, caller }: Scope,
  { result, manifests, mark, manifest_hash }: FileVerdict,
  sha256: string,
  storedAssetId?: string,
): Promise<FoundRun | null> {
  // The content of a file with the manifest of another one is what its mark names.
  const claims = [storedAssetId, manifests[0]?.asset_id, mark?.asset_id];
  if (result === "manifest_swapped") claims.splice(1, 1);
  const ids = [...new Set(claims.flatMap((assetId) => assetId ?? []))];
  if (ids.length === 0) return null;
  const assets = await findAssets(database, caller.tenant_id, ids);
  const asset = ids.flatMap((assetId) => assets.find((each) => each.asset_id === assetId) ?? [])[0];
  const run = asset && (await findRun(database, caller.tenant_id, asset.run_id));
  if (!run || run.deleted_at) return null;
  const { asset_id } = asset;
  const output = run.result?.outputs.find((each) => each.asset_id === asset_id);
  const hasManifest = manifest_hash !== null && output?.provenance?.manifest_hash === manifest_hash;
  const proof = asset.sha256 === sha256 ? "bytes" : hasManifest ? "manifest" : "mark";
  return { run_id: run.run_id, asset_id, root_run_id: run.root_run_id, proof };
}
