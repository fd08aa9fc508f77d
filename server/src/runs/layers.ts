// A run as a stack of layers: what it was made of at the bottom, what was found on the way above it, what it made on top.
// The plan says which picture is what, so nothing is guessed from names; files that are gone have no layer.
import { findAssets } from "../db/assets.ts";
import { findRuns, type KeptAsset, type RunRow } from "../db/runs.ts";
import type { Job, Source, Task } from "../kit/operation.ts";
import type { Layer, Layers } from "../kit/shapes-library.ts";
import type { House } from "./house.ts";
import { idWithin, sourceId } from "./ids.ts";

type Kind = Layer["kind"];
type Box = { x: number; y: number; width: number; height: number };
/** `key` tells a layer from all others of its kind, at every read the same. */
type Sheet = { kind: Kind; key: string; run_id: string; file: Picture; box?: Box | undefined };
type Picture = Pick<KeptAsset, "asset_id" | "media_type" | "width" | "height"> & Pick<KeptAsset, "name" | "box">;
type Owned = { run_id: string; file: Picture };

/** What jobs of these tasks make lies on a picture; what all others make is a picture itself. */
const FOUND: Partial<Record<Task, Kind>> = { "image.segment": "mask", "image.cut": "object" };
const ORDER: Kind[] = ["source", "background", "mask", "object", "result"];

export async function layersOf(house: Pick<House, "db" | "assetUrl">, row: RunRow): Promise<Layers> {
  const given = await givenTo(house, row);
  const sheets = [...given, ...madeBy(row)];
  const frame = frameOf(row, sheets);
  const stacked = ORDER.flatMap((kind) => sheets.filter((sheet) => sheet.kind === kind));
  return { data: { layers: stacked.map((sheet, z_index) => showLayer(house, row, { sheet, frame, z_index })) } };
}

/** The pictures that the plan takes from outside, each once, in the order in which it names them. */
async function givenTo({ db }: Pick<House, "db">, row: RunRow): Promise<Sheet[]> {
  const named = row.plan.flatMap((job, n) => outsideOf(row.run_id, job, n));
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

function outsideOf(runId: string, job: Job, n: number): Outside[] {
  const take = (kind: Kind, place: string, sources: Source[] = []) => {
    // A picture that several jobs read is one layer; one that a single job was given twice is two.
    const times = new Map<string, number>();
    const keyed = (word: string) => {
      times.set(word, (times.get(word) ?? 0) + 1);
      return `${word} ${times.get(word)}`;
    };
    return sources.flatMap((source, index): Outside[] => {
      if ("job" in source) return [];
      if ("run" in source) return [{ kind, key: keyed(source.run.toLowerCase()), run: source.run }];
      if ("asset" in source) return [{ kind, key: keyed(source.asset), asset: source.asset }];
      return [{ kind, key: keyed(source.url), asset: sourceId(runId, `${n} ${place} ${index}`) }];
    });
  };
  return [
    ...take("source", "image", job.images),
    ...take("mask", "masks", job.masks),
    ...take("mask", "mask", job.mask && [job.mask]),
  ];
}

/** What its jobs made. Runs without a plan, uploads, have nothing but a result. */
function madeBy({ run_id, plan, result }: RunRow): Sheet[] {
  if (!result) return [];
  const jobs = result.jobs ?? [result.outputs];
  const sheet = (kind: Kind, file: Picture, box = file.box) => ({ kind, key: file.asset_id, run_id, file, box });
  const onTheWay = jobs.flatMap((files, n) => {
    const isLast = n === jobs.length - 1;
    const kind = FOUND[plan[n]?.task ?? "image.generate"];
    if (isLast && !kind) return [];
    return files.map((file, index) => sheet(kind ?? "background", file, file.box ?? boxOf(plan[n], jobs, index)));
  });
  const last = plan[jobs.length - 1];
  const isFound = last !== undefined && FOUND[last.task] !== undefined;
  // The first result is the run's picture, so it lies highest; of things found the others have layers of their own.
  const results = isFound ? result.outputs.slice(0, 1) : result.outputs.toReversed();
  return [...onTheWay, ...results.map((file) => sheet("result", file, isFound ? boxOf(last, jobs, 0) : undefined))];
}

/** Where a cut-out lies is what was said of the mask that it was cut by. */
function boxOf(job: Job | undefined, jobs: Picture[][], index: number): Box | undefined {
  const masks = [...(job?.masks ?? []), ...(job?.mask ? [job.mask] : [])];
  const files = masks.flatMap((mask) => {
    const made = "job" in mask ? (jobs[mask.job] ?? []) : [];
    return "job" in mask && mask.every ? made : made.slice(0, 1);
  });
  return files[index]?.box;
}

/** Things found are placed on the picture that they were found in; everything else on the result. */
function frameOf(row: RunRow, sheets: Sheet[]): Picture | undefined {
  const isFound = row.plan.some(({ task }) => FOUND[task] !== undefined);
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
    opacity: 1,
    visible: true,
  };
}
