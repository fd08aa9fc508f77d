// Asks before runs are deleted, deletes them, and gives the focus to the tile after them.
import type { Run } from "@gesso/client";
import { type RefObject, useEffect, useRef, useState } from "react";
import { focusTile } from "./focus-tile.ts";
import type { GalleryRow } from "./gallery-rows.ts";
import type { useChangeRuns } from "./use-change-runs.ts";

type DeletionOptions = {
  scroller: RefObject<HTMLElement | null>;
  rows: readonly GalleryRow[];
  remove: ReturnType<typeof useChangeRuns>["remove"];
  onDeleted(): void;
};

export function useDeletion({ scroller, rows, remove, onDeleted }: DeletionOptions) {
  const [asked, setAsked] = useState<readonly Run[]>([]);
  const next = useRef<string>(undefined);
  useEffect(() => {
    // The dialog gives the focus back to the deleted tile, so this waits until the dialog is closed.
    if (asked.length === 0 && next.current && focusTile(scroller.current, next.current)) next.current = undefined;
  });
  const close = () => {
    setAsked([]);
    remove.reset();
  };
  const onConfirm = () =>
    remove.mutate(asked, {
      onSuccess: () => {
        next.current = tileAfter(rows, asked);
        onDeleted();
        close();
      },
    });
  const { isPending: isSending, error } = remove;
  return {
    ask: setAsked,
    deletion: asked.length === 0 ? undefined : { runs: asked, isSending, error, onConfirm, onClose: close },
  };
}

function tileAfter(rows: readonly GalleryRow[], deleted: readonly Run[]): string | undefined {
  const tiles = rows.flatMap((row) => (row.kind === "tiles" ? row.tiles : []));
  const isDeleted = ({ run }: { run: Run }) => deleted.some(({ run_id }) => run_id === run.run_id);
  const last = tiles.findLastIndex(isDeleted);
  return (tiles[last + 1] ?? tiles.slice(0, last).findLast((tile) => !isDeleted(tile)))?.key;
}
