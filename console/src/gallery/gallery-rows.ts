// The rows of the gallery: for every day a heading, then its tiles in justified rows. The height of each row is exact,
// so the place of a run does not depend on what has been loaded below it.
import type { Run } from "@gesso/client";
import { addMoney } from "../format/money.ts";
import { ratioOfRun, tileCountOfRun } from "../parts/run-shape.ts";

export type PlacedTile = { key: string; run: Run; index: number; width: number };
export type DayRow = {
  kind: "day";
  key: string;
  height: number;
  date: string;
  /** Null while older runs of the day are not loaded. */
  totals: { runs: number; cost: number } | null;
};
export type TileRow = { kind: "tiles"; key: string; height: number; date: string; tiles: readonly PlacedTile[] };
export type GalleryRow = DayRow | TileRow;

export type GalleryLayout = { width: number; targetHeight: number; gap: number };

const HEADING_HEIGHT = 48;
const NOT_SHOWN = ["upload", "mask-upload"];

const isShown = ({ run_type, outputs, status }: Run): boolean =>
  !NOT_SHOWN.includes(run_type) && status === "completed" && outputs.some(({ role }) => role === "result");

const knownDays = new WeakMap<Run, string>();

/** The day in the reader's time zone. */
function dayOfRun(run: Run): string {
  const known = knownDays.get(run);
  if (known) return known;
  const time = new Date(run.created_at);
  const day = `${time.getFullYear()}-${time.getMonth() + 1}-${time.getDate()}`;
  knownDays.set(run, day);
  return day;
}

type DayRows = { runs: readonly Run[]; isWhole: boolean; layout: GalleryLayout; rows: GalleryRow[] };

/** Builds the rows again and again; a day that has not changed keeps its rows. */
export function createRowBuilder() {
  let known = new Map<string, DayRows>();
  return (runs: readonly Run[], layout: GalleryLayout, hasOlder: boolean): GalleryRow[] => {
    const days = [...Map.groupBy(runs.filter(isShown), dayOfRun)];
    const next = new Map<string, DayRows>();
    for (const [number, [day, own]] of days.entries()) {
      const isWhole = !hasOlder || number < days.length - 1;
      const before = known.get(day);
      const isSame = before?.layout === layout && before.isWhole === isWhole && areSame(before.runs, own);
      next.set(day, isSame ? before : { runs: own, isWhole, layout, rows: rowsOfDay(day, own, layout, isWhole) });
    }
    known = next;
    return [...next.values()].flatMap(({ rows }) => rows);
  };
}

const areSame = (one: readonly Run[], other: readonly Run[]) =>
  one.length === other.length && one.every((run, index) => run === other[index]);

function rowsOfDay(day: string, runs: readonly Run[], layout: GalleryLayout, isWhole: boolean): GalleryRow[] {
  const date = runs[0]!.created_at;
  const cost = addMoney(runs.map((run) => run.cost?.amount ?? 0));
  const totals = isWhole ? { runs: runs.length, cost } : null;
  const tileRows = tileRowsOf(runs, layout, date);
  // The last row changes when older runs of the day arrive, so it is not shown before.
  const shown = isWhole ? tileRows : tileRows.slice(0, -1);
  return [{ kind: "day", key: `day ${day}`, height: HEADING_HEIGHT, date, totals }, ...shown];
}

function tileRowsOf(runs: readonly Run[], layout: GalleryLayout, date: string): TileRow[] {
  const tiles = runs.flatMap((run) =>
    Array.from({ length: tileCountOfRun(run) }, (_, index) => ({ run, index, ratio: ratioOfRun(run, index) })),
  );
  return justifyRows(
    tiles.map(({ ratio }) => ratio),
    layout,
  ).map(({ height, widths, first }) => {
    const own = widths.map((width, offset) => {
      const { run, index } = tiles[first + offset]!;
      return { key: `${run.run_id} ${index}`, run, index, width };
    });
    return { kind: "tiles", key: own[0]!.key, height: height + layout.gap, date, tiles: own };
  });
}

type JustifiedRow = { height: number; widths: number[]; first: number };

type Layout = { width: number; targetHeight: number; gap: number };

/** `ratios`: width divided by height of each tile. The last row keeps the target height instead of the full width. */
export function justifyRows(ratios: readonly number[], { width, targetHeight, gap }: Layout): JustifiedRow[] {
  const rows: JustifiedRow[] = [];
  let first = 0;
  let sum = 0;
  for (const [index, ratio] of ratios.entries()) {
    sum += ratio;
    const count = index - first + 1;
    const height = (width - gap * (count - 1)) / sum;
    const isLast = index === ratios.length - 1;
    if (height > targetHeight && !isLast) continue;
    const final = Math.max(1, isLast ? Math.min(height, targetHeight) : height);
    rows.push({ height: final, widths: ratios.slice(first, index + 1).map((each) => each * final), first });
    first = index + 1;
    sum = 0;
  }
  return rows;
}
