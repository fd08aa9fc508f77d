// The rows of the gallery: for every day a heading, then its tiles in justified rows. The height of each row is exact,
// so the scroll position of a run does not depend on what has been loaded.
import type { Run } from "@gesso/client";
import { addMoney } from "../format/money.ts";
import { daysBetween } from "../format/time.ts";
import { ratioOfRun, tileCountOfRun } from "../parts/run-shape.ts";
import { justifyRows } from "./justified-rows.ts";

export type GalleryTile = { run: Run; index: number; ratio: number };
export type DayRow = {
  kind: "day";
  key: string;
  height: number;
  date: string;
  daysAgo: number;
  runs: number;
  cost: number;
};
export type TileRow = {
  kind: "tiles";
  key: string;
  height: number;
  tiles: readonly (GalleryTile & { width: number })[];
};
export type GalleryRow = DayRow | TileRow;

export type GalleryLayout = { width: number; targetHeight: number; gap: number };

const HEADING_HEIGHT = 48;
const NOT_SHOWN = ["upload", "mask-upload"];

const isShown = ({ run_type, outputs, status }: Run): boolean =>
  !NOT_SHOWN.includes(run_type) && status === "completed" && outputs.some(({ role }) => role === "result");

/** `runs` newest first. */
export function galleryRows(runs: readonly Run[], layout: GalleryLayout, now: Date): GalleryRow[] {
  const days = Map.groupBy(runs.filter(isShown), ({ created_at }) => daysBetween(new Date(created_at), now));
  return [...days].flatMap(([daysAgo, own]) => [headingOf(daysAgo, own), ...tileRowsOf(own, layout)]);
}

function headingOf(daysAgo: number, runs: readonly Run[]): DayRow {
  const date = runs[0]!.created_at;
  const cost = addMoney(runs.map((run) => run.cost?.amount ?? 0));
  return { kind: "day", key: `day ${daysAgo}`, height: HEADING_HEIGHT, date, daysAgo, runs: runs.length, cost };
}

function tileRowsOf(runs: readonly Run[], layout: GalleryLayout): TileRow[] {
  const tiles = runs.flatMap((run) =>
    Array.from({ length: tileCountOfRun(run) }, (_, index) => ({ run, index, ratio: ratioOfRun(run, index) })),
  );
  return justifyRows(
    tiles.map(({ ratio }) => ratio),
    layout,
  ).map(({ height, widths, first }) => {
    const own = tiles.slice(first, first + widths.length).map((tile, index) => ({ ...tile, width: widths[index]! }));
    return { kind: "tiles", key: `${own[0]!.run.run_id} ${own[0]!.index}`, height: height + layout.gap, tiles: own };
  });
}
