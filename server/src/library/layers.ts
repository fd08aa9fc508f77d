// A run as a stack of layers: what it was made of at the bottom, what was found on the way above it, what it made on top.
// The plan says which picture is what, so nothing is guessed from names; files that are gone have no layer.
import { findAssets } from "../db/runs/assets.ts";
import { findRuns, type RunRow, type StoredAsset } from "../db/runs/runs.ts";
import type { Job, Source } from "../kit/operation.ts";
import type { Layer, Layers } from "../kit/schemas/library.ts";
import { type CombineMode, computeLayout } from "../providers/local/combine-layout.ts";
import { deriveId, sourceAssetId } from "../runs/ids.ts";
import type { Services } from "../runs/services.ts";

type Kind = Layer["kind"];
type Box = { x: number; y: number; width: number; height: number };
/** `key` tells a layer from all others of its kind, at every read the same. */
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

/** What is found in a picture lies upon it; what all other jobs make is a picture itself. */
function detectedLayerKind(job: Job | undefined): Kind | undefined {
  if (job?.task === "image.segment") return "mask";
  if (job?.task === "image.cut") return job.options?.mode === "mask" ? "mask" : "object";
  return undefined;
}
const LAYER_ORDER: Kind[] = ["source", "background", "mask", "object", "result"];

export async function buildLayers(services: Pick<Services, "db" | "assetUrl">, row: RunRow): Promise<Layers> {
  const given = await findSourceLayers(services, row);
  const sheets = [...placeCombinedSources(row.plan, given), ...buildOutputLayers(row)];
  const frame = selectFrame(row, sheets);
  const stacked = LAYER_ORDER.flatMap((kind) => sheets.filter((sheet) => sheet.kind === kind));
  return { data: { layers: stacked.map((sheet, z_index) => renderLayer(services, row, { sheet, frame, z_index })) } };
}

/** The pictures that the plan takes from outside, each once, in the order in which it names them. */
async function findSourceLayers({ db }: Pick<Services, "db">, row: RunRow): Promise<LayerDraft[]> {
  const externalSources = row.plan.flatMap((job) => listExternalSources(row.run_id, job));
  const ids = (field: "run" | "asset") => [...new Set(externalSources.flatMap((each) => each[field] ?? []))];
  const [runs, assets] = await Promise.all([
    findRuns(db, row.tenant_id, ids("run")),
    findAssets(db, row.tenant_id, ids("asset")),
  ]);
  const owned = new Map<string, OwnedImage>();
  for (const { run_id, deleted_at, result } of runs) {
    const file = result?.outputs[0];
    if (file && !deleted_at) owned.set(run_id, { run_id, file });
  }
  for (const { run_id, deleted_at, ...file } of assets) {
    if (!deleted_at) owned.set(file.asset_id, { run_id, file });
  }
  const seen = new Set<string>();
  return externalSources.flatMap(({ kind, key, run, asset }) => {
    const found = owned.get(run?.toLowerCase() ?? asset ?? "");
    if (!found || seen.has(`${kind} ${key}`)) return [];
    seen.add(`${kind} ${key}`);
    return [{ kind, key, ...found }];
  });
}

type ExternalSource = { kind: Kind; key: string; run?: string; asset?: string };

function listExternalSources(runId: string, job: Job): ExternalSource[] {
  const take = (kind: Kind, sources: Source[] = []) => {
    // A picture that several jobs read is one layer; one that a single job was given twice is two.
    const times = new Map<string, number>();
    const uniqueKey = (word: string) => {
      times.set(word, (times.get(word) ?? 0) + 1);
      return `${word} ${times.get(word)}`;
    };
    return sources.flatMap((source): ExternalSource[] => {
      if ("job" in source) return [];
      if ("run" in source) return [{ kind, key: uniqueKey(source.run.toLowerCase()), run: source.run }];
      if ("asset" in source) return [{ kind, key: uniqueKey(source.asset), asset: source.asset }];
      return [{ kind, key: uniqueKey(source.url), asset: sourceAssetId(runId, source.url) }];
    });
  };
  return [...take("source", job.images), ...take("mask", job.masks), ...take("mask", job.mask && [job.mask])];
}

/** In a combination, which we draw ourselves, it is known where each source went. */
function placeCombinedSources(plan: Job[], given: LayerDraft[]): LayerDraft[] {
  const [job] = plan;
  if (job?.task !== "image.combine" || given.length !== job.images?.length) return given;
  const { mode, gap, opacity } = job.options as { mode: CombineMode; gap: number; opacity: number };
  const sizes = given.map(({ file: { width, height } }) => ({ width, height }));
  return computeLayout(mode, sizes, gap).places.map(({ left, top, width, height }, index) => ({
    ...given[index]!,
    box: { x: left, y: top, width, height },
    opacity: mode === "overlay" && index > 0 ? opacity : 1,
  }));
}

/** What its jobs made. Runs without a plan, uploads, have nothing but a result. */
function buildOutputLayers({ run_id, plan, result }: RunRow): LayerDraft[] {
  if (!result) return [];
  const jobs = result.jobs ?? [result.outputs];
  const last = jobs.length - 1;
  const sheet = (kind: Kind, n: number, index: number): LayerDraft => {
    const file = jobs[n]![index]!;
    // What was said of a mask holds for what was cut by it.
    const mask = findMask(plan[n], jobs, index);
    return { kind, key: file.asset_id, run_id, file: { name: mask?.name, ...file }, box: file.box ?? mask?.box };
  };
  const intermediateLayers = jobs.flatMap((files, n) => {
    const kind = detectedLayerKind(plan[n]);
    if ((n === last && !kind) || isRedrawn(plan, n)) return [];
    return files.map((_, index) => sheet(kind ?? "background", n, index));
  });
  // The first result is the run's picture, so it lies highest; of things found the others have layers of their own.
  const results = detectedLayerKind(plan[last]) ? result.outputs.slice(0, 1) : result.outputs;
  return [...intermediateLayers, ...results.map((_, index) => sheet("result", last, index)).toReversed()];
}

/** Masks that a later job only made into masks of our own kind are the same masks. */
const isRedrawn = (plan: Job[], n: number) =>
  plan.some((job) => detectedLayerKind(job) === "mask" && job.masks?.some((mask) => "job" in mask && mask.job === n));

function findMask(job: Job | undefined, jobs: LayerImage[][], index: number): LayerImage | undefined {
  if (!detectedLayerKind(job)) return undefined;
  const masks = [...(job?.masks ?? []), ...(job?.mask ? [job.mask] : [])];
  const files = masks.flatMap((mask) => {
    const made = "job" in mask ? (jobs[mask.job] ?? []) : [];
    return "job" in mask && mask.every ? made : made.slice(0, 1);
  });
  return files[index];
}

/** Things found are placed on the picture that they were found in; everything else on the result. */
function selectFrame(row: RunRow, sheets: LayerDraft[]): LayerImage | undefined {
  const isFound = row.plan.some((job) => detectedLayerKind(job) !== undefined);
  const source = sheets.find(({ kind }) => kind === "source")?.file;
  return isFound && source ? source : (row.result?.outputs[0] ?? source);
}

type LayerPlacement = { sheet: LayerDraft; frame: LayerImage | undefined; z_index: number };

function renderLayer(
  services: Pick<Services, "assetUrl">,
  row: RunRow,
  { sheet, frame, z_index }: LayerPlacement,
): Layer {
  const { kind, key, run_id, file } = sheet;
  const isWhole = file.width === frame?.width && file.height === frame.height;
  // A file of the frame's own size covers it, wherever in it the thing lies; a box is where a smaller one belongs.
  const box = (!isWhole && sheet.box) || { x: 0, y: 0, width: file.width, height: file.height };
  return {
    id: deriveId(row.run_id, "layer", kind, key),
    run_id,
    kind,
    name: file.name ?? `${kind[0]!.toUpperCase()}${kind.slice(1)}`,
    image_url: file.media_type.startsWith("image/") ? services.assetUrl(file.asset_id, file.media_type) : null,
    x: Math.round(box.x),
    y: Math.round(box.y),
    width: Math.round(box.width),
    height: Math.round(box.height),
    z_index,
    opacity: sheet.opacity ?? 1,
    visible: true,
  };
}
