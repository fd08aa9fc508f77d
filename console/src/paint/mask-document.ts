// The mask that a user edits: changes in progress, finished changes with undo, and who wants to know about them.
import {
  copyRectangle,
  createMask,
  describeMask,
  joinRectangles,
  type Mask,
  type MaskFacts,
  type PixelRectangle,
  pasteRectangle,
} from "./mask.ts";

/** What a page shows about the mask. A new object after each finished change. */
export type MaskState = MaskFacts & { revision: number; canUndo: boolean; canRedo: boolean };

export type MaskDocument = {
  readonly mask: Mask;
  /** Begins a change in several parts, such as a stroke. */
  begin(): void;
  /** A part of a change, as soon as it is in the mask. */
  touch(area: PixelRectangle | undefined): void;
  /** Ends the change as one step of undo. */
  commit(): void;
  /** Takes the unfinished change back. */
  revert(): void;
  /** A change in one part. `perform` returns what it changed. */
  change(perform: (mask: Mask) => PixelRectangle | undefined): void;
  undo(): void;
  redo(): void;
  state(): MaskState;
  /** `onPixels` gets every rectangle that changed, also within an unfinished change. */
  subscribePixels(onPixels: (area: PixelRectangle) => void): () => void;
  subscribeState(onState: () => void): () => void;
};

export function createMaskDocument(size: { width: number; height: number }): MaskDocument {
  const mask = createMask(size.width, size.height);
  const history = createMaskHistory(mask);
  const pixelListeners = new Set<(area: PixelRectangle) => void>();
  const stateListeners = new Set<() => void>();
  let original: Mask | undefined;
  let changed: PixelRectangle | undefined;
  let state: MaskState = { ...describeMask(mask), revision: 0, ...history.counts() };

  const publishPixels = (area: PixelRectangle) => {
    for (const listener of pixelListeners) listener(area);
  };
  const publishState = (area: PixelRectangle | undefined) => {
    if (!area) return;
    state = { ...describeMask(mask), revision: state.revision + 1, ...history.counts() };
    for (const listener of stateListeners) listener();
  };
  /** The change in progress, which ends here. */
  const finish = () => {
    const ended = original && changed && { before: original, area: changed };
    original = undefined;
    changed = undefined;
    return ended;
  };
  const step = (move: () => PixelRectangle | undefined) => {
    const area = original ? undefined : move();
    if (area) publishPixels(area);
    publishState(area);
  };
  const begin = () => {
    original ??= { ...mask, values: mask.values.slice() };
  };
  const touch = (area: PixelRectangle | undefined) => {
    if (!area || !original) return;
    changed = joinRectangles(changed, area);
    publishPixels(area);
  };
  const commit = () => {
    const ended = finish();
    if (ended) history.record(ended.before, ended.area);
    publishState(ended?.area);
  };
  const revert = () => {
    const ended = finish();
    if (!ended) return;
    pasteRectangle(mask, ended.area, copyRectangle(ended.before, ended.area));
    publishPixels(ended.area);
  };
  return {
    ...{ mask, begin, touch, commit, revert },
    change(perform) {
      begin();
      touch(perform(mask));
      commit();
    },
    undo: () => step(history.undo),
    redo: () => step(history.redo),
    state: () => state,
    subscribePixels: (listener) => subscribe(pixelListeners, listener),
    subscribeState: (listener) => subscribe(stateListeners, listener),
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const MAX_UNDOS = 50;

type Step = { area: PixelRectangle; before: Uint8Array; after: Uint8Array };

type MaskHistory = {
  /** Records a change that is in the mask. `before` is the mask without it. */
  record(before: Mask, area: PixelRectangle): void;
  /** Both return the rectangle that changed; undefined if there is no step. */
  undo(): PixelRectangle | undefined;
  redo(): PixelRectangle | undefined;
  counts(): { canUndo: boolean; canRedo: boolean };
};

/**
 * The last 50 changes of a mask, to take them back and to make them again. A step stores only the rectangle it
 * changed.
 */
function createMaskHistory(mask: Mask): MaskHistory {
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
