// A run as a stack of layers: what it was made of at the bottom, what was found on the way above it, what it made on top.
// The plan says which picture is what, so nothing is guessed from names; files that are gone have no layer.
import { findAssets } from "../db/assets.ts";
import { findRuns, type KeptAsset, type RunRow } from "../db/runs.ts";
import type { Job, Source } from "../kit/operation.ts";
import type { Layer, Layers } from "../kit/shapes-library.ts";
import { layOut, type Mode } from "../providers/local/layout.ts";
import type { House } from "./house.ts";
import { idWithin, sourceId } from "./ids.ts";

type Kind = Layer["kind"];
type Box = { x: number; y: number; width: number; height: number };
/** `key` tells a layer from all others of its kind, at every read the same. */
type Sheet = { kind: Kind; key: string; run_id: string; file: Picture; box?: Box | undefined; opacity?: number };
type Picture = Pick<KeptAsset, "asset_id" | "media_type" | "width" | "height"> & Pick<KeptAsset, "name" | "box">;
type Owned = { run_id: string; file: Picture };

/** What is found in a picture lies upon it; what all other jobs make is a picture itself. */
function foundBy(job: Job | undefined): Kind | undefined {
  if (job?.task === "image.segment") return "mask";
  if (job?.task === "image.cut") return job.options?.mode === "mask" ? "mask" : "object";
  return undefined;
}
const ORDER: Kind[] = ["source", "background", "mask", "object", "result"];

export async function layersOf(house: Pick<House, "db" | "assetUrl">, row: RunRow): Promise<Layers> {
  const given = await givenTo(house, row);
  const sheets = [...laidOut(row.plan, given), ...madeBy(row)];
  const frame = frameOf(row, sheets);
  const stacked = ORDER.flatMap((kind) => sheets.filter((sheet) => sheet.kind === kind));
  return { data: { layers: stacked.map((sheet, z_index) => showLayer(house, row, { sheet, frame, z_index })) } };
}

/** The pictures that the plan takes from outside, each once, in the order in which it names them. */
async function givenTo({ db }: Pick<House, "db">, row: RunRow): Promise<Sheet[]> {
  const named = row.plan.flatMap((job) => outsideOf(row.run_id, job));
  const ids = (field: "run" | "asset") => [...new Set(named.flatMap((each) => each[field] ?? []))];
  const [runs, assets] = await Promise.all([
    findRuns(db, row.tenant_id, ids("run")),
    findAssets(db, row.tenant_id, ids("asset")),
  ]);
  const owned = new Map<string, Owned>();
  for (const { run_id, deleted_at, result } of runs) {
    const file = result?.outputs[0];
    if (file && !deleted_at) owned.set(run_id, { run_id, file });
  }
  for (const { run_id, deleted_at, ...file } of assets) {
    if (!deleted_at) owned.set(file.asset_id, { run_id, file });
  }
  const seen = new Set<string>();
  return named.flatMap(({ kind, key, run, asset }) => {
    const found = owned.get(run?.toLowerCase() ?? asset ?? "");
    if (!found || seen.has(`${kind} ${key}`)) return [];
    seen.add(`${kind} ${key}`);
    return [{ kind, key, ...found }];
  });
}

type Outside = { kind: Kind; key: string; run?: string; asset?: string };

function outsideOf(runId: string, job: Job): Outside[] {
  const take = (kind: Kind, sources: Source[] = []) => {
    // A picture that several jobs read is one layer; one that a single job was given twice is two.
    const times = new Map<string, number>();
    const keyed = (word: string) => {
      times.set(word, (times.get(word) ?? 0) + 1);
      return `${word} ${times.get(word)}`;
    };
    return sources.flatMap((source): Outside[] => {
      if ("job" in source) return [];
      if ("run" in source) return [{ kind, key: keyed(source.run.toLowerCase()), run: source.run }];
      if ("asset" in source) return [{ kind, key: keyed(source.asset), asset: source.asset }];
      return [{ kind, key: keyed(source.url), asset: sourceId(runId, source.url) }];
    });
  };
  return [...take("source", job.images), ...take("mask", job.masks), ...take("mask", job.mask && [job.mask])];
}

/** In a combination, which we draw ourselves, it is known where each source went. */
function laidOut(plan: Job[], given: Sheet[]): Sheet[] {
  const [job] = plan;
  if (job?.task !== "image.combine" || given.length !== job.images?.length) return given;
  const { mode, gap, opacity } = job.options as { mode: Mode; gap: number; opacity: number };
  const sizes = given.map(({ file: { width, height } }) => ({ width, height }));
  return layOut(mode, sizes, gap).places.map(({ left, top, width, height }, index) => ({
    ...given[index]!,
    box: { x: left, y: top, width, height },
    opacity: mode === "overlay" && index > 0 ? opacity : 1,
  }));
}

/** What its jobs made. Runs without a plan, uploads, have nothing but a result. */
function madeBy({ run_id, plan, result }: RunRow): Sheet[] {
  if (!result) return [];
  const jobs = result.jobs ?? [result.outputs];
  const last = jobs.length - 1;
  const sheet = (kind: Kind, n: number, index: number): Sheet => {
    const file = jobs[n]![index]!;
    // What was said of a mask holds for what was cut by it.
    const mask = maskOf(plan[n], jobs, index);
    return { kind, key: file.asset_id, run_id, file: { name: mask?.name, ...file }, box: file.box ?? mask?.box };
  };
  const onTheWay = jobs.flatMap((files, n) => {
    const kind = foundBy(plan[n]);
    if ((n === last && !kind) || isRedrawn(plan, n)) return [];
    return files.map((_, index) => sheet(kind ?? "background", n, index));
  });
  // The first result is the run's picture, so it lies highest; of things found the others have layers of their own.
  const results = foundBy(plan[last]) ? result.outputs.slice(0, 1) : result.outputs;
  return [...onTheWay, ...results.map((_, index) => sheet("result", last, index)).toReversed()];
}

/** Masks that a later job only made into masks of our own kind are the same masks. */
const isRedrawn = (plan: Job[], n: number) =>
  plan.some((job) => foundBy(job) === "mask" && job.masks?.some((mask) => "job" in mask && mask.job === n));

function maskOf(job: Job | undefined, jobs: Picture[][], index: number): Picture | undefined {
  if (!foundBy(job)) return undefined;
  const masks = [...(job?.masks ?? []), ...(job?.mask ? [job.mask] : [])];
  const files = masks.flatMap((mask) => {
    const made = "job" in mask ? (jobs[mask.job] ?? []) : [];
    return "job" in mask && mask.every ? made : made.slice(0, 1);
  });
  return files[index];
}

/** Things found are placed on the picture that they were found in; everything else on the result. */
function frameOf(row: RunRow, sheets: Sheet[]): Picture | undefined {
  const isFound = row.plan.some((job) => foundBy(job) !== undefined);
  const source = sheets.find(({ kind }) => kind === "source")?.file;
  return isFound && source ? source : (row.result?.outputs[0] ?? source);
}

type Place = { sheet: Sheet; frame: Picture | undefined; z_index: number };

function showLayer(house: Pick<House, "assetUrl">, row: RunRow, { sheet, frame, z_index }: Place): Layer {
  const { kind, key, run_id, file } = sheet;
  const isWhole = file.width === frame?.width && file.height === frame.height;
  // A file of the frame's own size covers it, wherever in it the thing lies; a box is where a smaller one belongs.
  const box = (!isWhole && sheet.box) || { x: 0, y: 0, width: file.width, height: file.height };
  return {
    id: idWithin(row.run_id, "layer", kind, key),
    run_id,
    kind,
    name: file.name ?? `${kind[0]!.toUpperCase()}${kind.slice(1)}`,
    image_url: file.media_type.startsWith("image/") ? house.assetUrl(file.asset_id, file.media_type) : null,
    x: Math.round(box.x),
    y: Math.round(box.y),
    width: Math.round(box.width),
    height: Math.round(box.height),
    z_index,
    opacity: sheet.opacity ?? 1,
    visible: true,
  };
}
