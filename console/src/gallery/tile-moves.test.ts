import { expect, it } from "vitest";
import type { GalleryRow, PlacedTile } from "./gallery-rows.ts";
import { placesOf, tileAfterKey } from "./tile-moves.ts";

const tiles = (...named: [key: string, width: number][]): GalleryRow => ({
  ...{ kind: "tiles", key: named[0]![0], height: 100, date: "" },
  tiles: named.map(([key, width]) => ({ key, width }) as PlacedTile),
});
const places = placesOf(
  [
    { kind: "day", key: "day", height: 48, date: "", totals: null },
    tiles(["a", 300], ["b", 700]),
    { kind: "day", key: "day 2", height: 48, date: "", totals: null },
    tiles(["c", 200], ["d", 200], ["e", 600]),
  ],
  6,
);

it.each([
  ["a", "ArrowRight", "b"],
  ["b", "ArrowRight", "c"],
  ["c", "ArrowLeft", "b"],
  ["a", "ArrowLeft", undefined],
  ["a", "ArrowDown", "c"],
  ["b", "ArrowDown", "e"],
  ["d", "ArrowUp", "a"],
  ["e", "ArrowUp", "b"],
  ["b", "ArrowUp", undefined],
  ["d", "Home", "a"],
  ["a", "End", "e"],
  ["a", "x", undefined],
])("from %s, %s leads to %s", (from, key, to) => {
  expect(tileAfterKey(places, from, key)?.key).toBe(to);
});
