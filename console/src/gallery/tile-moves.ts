// Where an arrow key leads from a tile.
import type { GalleryRow } from "./gallery-rows.ts";

type TilePlace = { key: string; row: number; centre: number };

export function placesOf(rows: readonly GalleryRow[], gap: number): TilePlace[] {
  return rows.flatMap((row, number) => {
    if (row.kind === "day") return [];
    let left = 0;
    return row.tiles.map(({ key, width }) => {
      const centre = left + width / 2;
      left += width + gap;
      return { key, row: number, centre };
    });
  });
}

const IN_ROWS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };
const IN_ORDER: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** The tile that the key leads to; undefined at the edge or for another key. */
export function tileAfterKey(places: readonly TilePlace[], current: string, key: string): TilePlace | undefined {
  if (key === "Home") return places[0];
  if (key === "End") return places.at(-1);
  const index = places.findIndex((place) => place.key === current);
  const from = places[index];
  if (!from) return undefined;
  if (IN_ORDER[key]) return places[index + IN_ORDER[key]];
  return IN_ROWS[key] ? nearestInRow(places, index, IN_ROWS[key]) : undefined;
}

function nearestInRow(places: readonly TilePlace[], index: number, step: number): TilePlace | undefined {
  const from = places[index]!;
  let other = index;
  while (places[other]?.row === from.row) other += step;
  const row = places[other]?.row;
  let best = places[other];
  for (; places[other]?.row === row && places[other]; other += step)
    if (Math.abs(places[other]!.centre - from.centre) < Math.abs(best!.centre - from.centre)) best = places[other];
  return best;
}
