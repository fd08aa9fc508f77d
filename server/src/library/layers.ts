// A run as a stack of layers: sources at the bottom, detected masks and objects above them, results on top. The kind of
// each image follows from the plan. Deleted files have no layer.

import type { Job, Source } from "../contract/operation.ts";
import type { Layer, Layers } from "../contract/schemas/library.ts";
import type { Database } from "../db/connect.ts";
import { findAssets } from "../db/files/assets.ts";
import { findRuns, type RunRow } from "../db/runs/runs.ts";
import type { StoredAsset } from "../db/typed-columns.ts";
import { knownSize } from "../files/formats/image-size.ts";
import { type CombineMode, computeLayout } from "../files/images/combine-layout.ts";
import { deriveId, frameAssetId, sourceAssetId } from "../runs/core/ids.ts";
import type { RenderDependencies } from "../runs/show/render-run.ts";
import { findOutput, isVideoFile, sourceRunId } from "../runs/sources/source-files.ts";

type Kind = Layer["kind"];
type Box = { x: number; y: number; width: number; height: number };
/** `key` is unique among the layers of its kind and stable, because the layer id is derived from it. */
type LayerDraft = {
  kind: Kind;
  key: string;
  run_id: string;
  file: LayerImage;
  box?: Box | undefined;
  opacity?: number;
};
type LayerImage = Pick<StoredAsset, "asset_id" | "media_type" | "width" | "height"> & Pick<StoredAsset, "name" | "box">;
type OwnedImage = { run_id: string; file: LayerImage };

/** The kind of layer that a detecting job produces; undefined for jobs that produce a whole image. */
function detectedLayerKind(job: Job | undefined): Kind | undefined {
  if (job?.task === "image.segment") return "mask";
  if (job?.task === "image.cut") return job.options?.mode === "mask" ? "mask" : "object";
  return undefined;
}
const LAYER_ORDER: Kind[] = ["source", "background", "mask", "object", "result"];

export async function buildLayers(services: RenderDependencies & { database: Database }, row: RunRow): Promise<Layers> {
  const sources = await findSourceLayers(services, row);
  const drafts = [...placeCombinedSources(row.plan, sources), ...buildOutputLayers(row)];
  const frame = selectFrame(row, drafts);
  const stacked = LAYER_ORDER.flatMap((kind) => drafts.filter((draft) => draft.kind === kind));
  return { data: { layers: stacked.map((draft, z_index) => renderLayer(services, row, { draft, frame, z_index })) } };
}

/** The images that the plan takes from outside the run, each once, in the order of the plan. */
async function findSourceLayers({ database }: { database: Database }, row: RunRow): Promise<LayerDraft[]> {
  const externalSources = row.plan.flatMap((job) => listExternalSources(row.run_id, job));
  const runIds = [...new Set(externalSources.flatMap(({ run }) => sourceRunId(run) ?? []))];
  const runs = await findRuns(database, row.tenant_id, runIds);
  const findRunOutput = (run: RunSource): OwnedImage | undefined => {
    const found = runs.find(({ run_id }) => run_id === sourceRunId(run));
    const file = found && !found.deleted_at ? findOutput(found, run) : undefined;
    return file && { run_id: found!.run_id, file };
  };
  /** The asset of a source: its own, or the still that this run took of a video. */
  const assetIdOf = ({ run, asset }: ExternalSource) => {
    const file = run?.frame && findRunOutput(run)?.file;
    return file && isVideoFile(file) ? frameAssetId(row.run_id, file.asset_id, run!.frame!) : asset;
  };
  const assetIds = [...new Set(externalSources.flatMap((each) => assetIdOf(each) ?? []))];
  const assets = await findAssets(database, row.tenant_id, assetIds);
  const findStored = (assetId: string): OwnedImage | undefined => {
    const found = assets.find(({ asset_id }) => asset_id === assetId);
    return found && !found.deleted_at ? { run_id: found.run_id, file: found } : undefined;
  };
  const seen = new Set<string>();
  return externalSources.flatMap((source) => {
    const { kind, key, run } = source;
    const assetId = assetIdOf(source);
    const found = assetId ? findStored(assetId) : run && findRunOutput(run);
    if (!found || seen.has(`${kind} ${key}`)) return [];
    seen.add(`${kind} ${key}`);
    return [{ kind, key, ...found }];
  });
}

type RunSource = Extract<Source, { run: string }>;
type ExternalSource = { kind: Kind; key: string; run?: RunSource; asset?: string };

function listExternalSources(runId: string, job: Job): ExternalSource[] {
  const take = (kind: Kind, sources: Source[] = []) => {
    // An image that several jobs use is one layer; an image that one job uses twice is two layers.
    const countByKey = new Map<string, number>();
    const uniqueKey = (source: string) => {
      countByKey.set(source, (countByKey.get(source) ?? 0) + 1);
      return `${source} ${countByKey.get(source)}`;
    };
    return sources.flatMap((source): ExternalSource[] => {
      if ("job" in source) return [];
      if ("run" in source) return [{ kind, key: uniqueKey(outputKey(source)), run: source }];
      if ("asset" in source) return [{ kind, key: uniqueKey(source.asset), asset: source.asset }];
      return [{ kind, key: uniqueKey(source.url), asset: sourceAssetId(runId, source.url) }];
    });
  };
  return [...take("source", job.images), ...take("mask", job.masks), ...take("mask", job.mask && [job.mask])];
}

const outputKey = ({ run, output = 0, frame }: RunSource) =>
  [run.toLowerCase(), ...(output > 0 ? [output] : []), ...(frame ? [frame] : [])].join(" ");

/** For `combine`, which the server renders itself, the position of each source is known. */
function placeCombinedSources(plan: Job[], sources: LayerDraft[]): LayerDraft[] {
  const [job] = plan;
  if (job?.task !== "image.combine" || sources.length !== job.images?.length) return sources;
  const { mode, gap, opacity } = job.options as { mode: CombineMode; gap: number; opacity: number };
  const sizes = sources.flatMap(({ file }) => knownSize(file) ?? []);
  if (sizes.length < sources.length) return sources;
  return computeLayout(mode, sizes, gap).places.map(({ left, top, width, height }, index) => ({
    ...sources[index]!,
    box: { x: left, y: top, width, height },
    opacity: mode === "overlay" && index > 0 ? opacity : 1,
  }));
}

/** Layers of the outputs of all jobs. Uploads have no plan and only a result. */
function buildOutputLayers({ run_id, plan, result }: RunRow): LayerDraft[] {
  if (!result) return [];
  const jobs = result.jobs ?? [result.outputs];
  const last = jobs.length - 1;
  const draft = (kind: Kind, n: number, index: number): LayerDraft => {
    const file = jobs[n]![index]!;
    // A cut-out object inherits name and box from the mask that cut it.
    const mask = findMask(plan[n], jobs, index);
    return { kind, key: file.asset_id, run_id, file: { name: mask?.name, ...file }, box: file.box ?? mask?.box };
  };
  const intermediateLayers = jobs.flatMap((files, n) => {
    const kind = detectedLayerKind(plan[n]);
    if ((n === last && !kind) || isConvertedLater(plan, n)) return [];
    return files.map((_, index) => draft(kind ?? "background", n, index));
  });
  // The first result is the image of the run, so it is on top. Further detected objects have layers of their own.
  const results = detectedLayerKind(plan[last]) ? result.outputs.slice(0, 1) : result.outputs;
  return [...intermediateLayers, ...results.map((_, index) => draft("result", last, index)).toReversed()];
}

/** Masks that a later job only converts to another format are not shown twice. */
const isConvertedLater = (plan: Job[], n: number) =>
  plan.some((job) => detectedLayerKind(job) === "mask" && job.masks?.some((mask) => "job" in mask && mask.job === n));

function findMask(job: Job | undefined, jobs: LayerImage[][], index: number): LayerImage | undefined {
  if (!detectedLayerKind(job)) return undefined;
  const masks = [...(job?.masks ?? []), ...(job?.mask ? [job.mask] : [])];
  const files = masks.flatMap((mask) => {
    const outputs = "job" in mask ? (jobs[mask.job] ?? []) : [];
    return "job" in mask && mask.every ? outputs : outputs.slice(0, 1);
  });
  return files[index];
}

/** The image that layers are positioned on: the source for detected objects, else the result. */
function selectFrame(row: RunRow, drafts: LayerDraft[]): LayerImage | undefined {
  const hasDetection = row.plan.some((job) => detectedLayerKind(job) !== undefined);
  const source = drafts.find(({ kind }) => kind === "source")?.file;
  return hasDetection && source ? source : (row.result?.outputs[0] ?? source);
}

type LayerPlacement = { draft: LayerDraft; frame: LayerImage | undefined; z_index: number };

function renderLayer(services: RenderDependencies, row: RunRow, { draft, frame, z_index }: LayerPlacement): Layer {
  const { kind, key, run_id, file } = draft;
  const isWhole = file.width === frame?.width && file.height === frame.height;
  // A file of the size of the frame covers it completely; a smaller file is positioned by its box.
  const size = knownSize(file) ?? (frame && knownSize(frame)) ?? { width: 0, height: 0 };
  const box = (!isWhole && draft.box) || { x: 0, y: 0, ...size };
  return {
    id: deriveId(row.run_id, "layer", kind, key),
    run_id,
    kind,
    name: file.name ?? `${kind[0]!.toUpperCase()}${kind.slice(1)}`,
    image_url: file.media_type.startsWith("image/") ? services.assets.signUrl(file.asset_id, file.media_type) : null,
    x: Math.round(box.x),
    y: Math.round(box.y),
    width: Math.round(box.width),
    height: Math.round(box.height),
    z_index,
    opacity: draft.opacity ?? 1,
    visible: true,
  };
}
