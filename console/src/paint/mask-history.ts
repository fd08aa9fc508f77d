// The last 50 changes of a mask, to take them back and to make them again. A step stores only the rectangle it changed.
import { copyRectangle, type Mask, type PixelRectangle, pasteRectangle } from "./mask.ts";

const MAX_UNDOS = 50;

type Step = { area: PixelRectangle; before: Uint8Array; after: Uint8Array };

export type MaskHistory = {
  /** Records a change that is in the mask. `before` is the mask without it. */
  record(before: Mask, area: PixelRectangle): void;
  /** Both return the rectangle that changed; undefined if there is no step. */
  undo(): PixelRectangle | undefined;
  redo(): PixelRectangle | undefined;
  counts(): { canUndo: boolean; canRedo: boolean };
};

export function createMaskHistory(mask: Mask): MaskHistory {
  const done: Step[] = [];
  const undone: Step[] = [];
  const move = (from: Step[], to: Step[], side: "before" | "after") => {
    const step = from.pop();
    if (!step) return undefined;
    to.push(step);
    pasteRectangle(mask, step.area, step[side]);
    return step.area;
  };
  return {
    record(before, area) {
      done.push({ area, before: copyRectangle(before, area), after: copyRectangle(mask, area) });
      if (done.length > MAX_UNDOS) done.shift();
      undone.length = 0;
    },
    undo: () => move(done, undone, "before"),
    redo: () => move(undone, done, "after"),
    counts: () => ({ canUndo: done.length > 0, canRedo: undone.length > 0 }),
  };
}
