// The rows of the gallery on the screen. Arrow keys move between tiles; the page loads more rows at both ends.
import { type KeyboardEvent, memo, type RefObject, useEffect, useMemo, useRef } from "react";
import { formatMoney } from "../format/money.ts";
import { daysBetween, formatDate } from "../format/time.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import { focusTile, keyOfTile } from "./focus-tile.ts";
import styles from "./gallery-page.module.css";
import type { DayRow, GalleryLayout, GalleryRow } from "./gallery-rows.ts";
import { GalleryTile, type TileActions } from "./gallery-tile.tsx";
import { placesOf, tileAfterKey } from "./tile-moves.ts";
import { useRowsInView } from "./use-rows-in-view.ts";

/** Rows are loaded when the reader is this near to an end. */
const NEAR_ROWS = 8;

type GalleryScrollerProps = {
  scroller: RefObject<HTMLDivElement | null>;
  rows: readonly GalleryRow[];
  layout: GalleryLayout | undefined;
  listKey: string;
  /** The tile that Tab leads to. */
  current: string | undefined;
  selected: ReadonlySet<string>;
  tileActions: TileActions;
  foot: string;
  onKey(event: KeyboardEvent): void;
  onOlder(): void;
  onNewer(): void;
  onDate(date: string): void;
};

export function GalleryScroller(props: GalleryScrollerProps) {
  const { scroller, rows, layout, listKey, current, selected, tileActions, onOlder, onNewer, onDate } = props;
  const { virtualizer, top } = useRowsInView(scroller, rows, listKey);
  const shown = virtualizer.getVirtualItems();
  const places = useMemo(() => placesOf(rows, layout?.gap ?? 0), [rows, layout]);
  const wanted = useRef<string>(undefined);
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => {
    if (rows.length === 0 || last >= rows.length - NEAR_ROWS) onOlder();
    if (rows.length > 0 && first < NEAR_ROWS) onNewer();
  }, [first, last, rows.length, onOlder, onNewer]);
  useEffect(() => {
    if (top) onDate(top.date);
  }, [top, onDate]);
  useEffect(() => {
    // The tile may be drawn only after the list has scrolled to it.
    if (wanted.current && focusTile(scroller.current, wanted.current)) wanted.current = undefined;
  });
  const isCurrentDrawn = shown.some(({ index }) => rowHasTile(rows[index], current));
  const tabStop = isCurrentDrawn ? current : firstTileOf(top, rows);
  const onKeyDown = (event: KeyboardEvent) => {
    const key = keyOfTile(event.target);
    const next = key && !event.altKey && !event.metaKey ? tileAfterKey(places, key, event.key) : undefined;
    if (!next) return props.onKey(event);
    event.preventDefault();
    wanted.current = next.key;
    virtualizer.scrollToIndex(next.row, { align: "auto" });
    if (focusTile(scroller.current, next.key)) wanted.current = undefined;
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the tiles, which have the focus, arrive here
    <div ref={scroller} className={styles.scroller} onKeyDown={onKeyDown}>
      <div ref={cssVariables({ "--total": `${virtualizer.getTotalSize()}px` })} className={styles.rows}>
        {shown.map(({ key, index, start }) => {
          const row = rows[index];
          return (
            row && (
              <div
                key={key}
                ref={cssVariables({ "--y": `${start}px`, "--h": `${row.height}px` })}
                className={styles.row}
              >
                {row.kind === "day" ? (
                  <DayHeading day={row} />
                ) : (
                  row.tiles.map((tile) => (
                    <GalleryTile
                      key={tile.key}
                      tile={tile}
                      isCurrent={tile.key === tabStop}
                      isSelected={selected.has(tile.run.run_id)}
                      actions={tileActions}
                    />
                  ))
                )}
              </div>
            )
          );
        })}
      </div>
      <p className={styles.foot}>{props.foot}</p>
    </div>
  );
}

const rowHasTile = (row: GalleryRow | undefined, key: string | undefined) =>
  row?.kind === "tiles" && row.tiles.some((tile) => tile.key === key);

function firstTileOf(top: GalleryRow | undefined, rows: readonly GalleryRow[]): string | undefined {
  const row = top?.kind === "tiles" ? top : rows[top ? rows.indexOf(top) + 1 : 0];
  return row?.kind === "tiles" ? row.tiles[0]?.key : undefined;
}

const formatDayOfYear = (iso: string): string => {
  const isThisYear = new Date(iso).getFullYear() === new Date().getFullYear();
  return isThisYear ? formatDate(iso) : `${formatDate(iso)} ${new Date(iso).getFullYear()}`;
};

/** The heading of a day: its name, its date, how many runs it had and what they cost. */
const DayHeading = memo(function DayHeading({ day: { date, totals } }: { day: DayRow }) {
  const names = [text.gallery.today, text.gallery.yesterday];
  const name = names[daysBetween(new Date(date), new Date())];
  const facts = [
    name && formatDate(date),
    totals && text.gallery.runCount(totals.runs),
    totals && totals.cost > 0 && formatMoney(totals.cost),
  ];
  return (
    <h2 className={styles.day}>
      {name ?? formatDayOfYear(date)} <span>{facts.filter(Boolean).join(" · ")}</span>
    </h2>
  );
});
