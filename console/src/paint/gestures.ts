// Turns pointer events of the stage into strokes and movements of the view. One pointer uses the tool; a second finger
// takes the stroke back and moves the view instead, so that a pinch never leaves a spot.
import type { Point } from "./polygon.ts";

/** A pointer event in CSS pixels of the stage. */
export type PointerSample = {
  id: number;
  kind: "mouse" | "pen" | "touch";
  x: number;
  y: number;
  /** From 0 to 1. Mice and most screens always report 0.5 or 1. */
  pressure: number;
  /** The middle button, or a key that moves the view. */
  isMove: boolean;
};

export type GestureTarget = {
  startStroke(sample: PointerSample): void;
  /** All samples since the last call, in order. */
  continueStroke(samples: readonly PointerSample[]): void;
  endStroke(): void;
  cancelStroke(): void;
  moveBy(by: Point): void;
  pinch(before: readonly [Point, Point], after: readonly [Point, Point]): void;
};

export type Gestures = {
  down(sample: PointerSample): void;
  /** `samples` are the coalesced events of one pointer; browsers report up to 240 positions per second that way. */
  move(samples: readonly PointerSample[]): void;
  up(id: number): void;
  cancel(id: number): void;
};

type Mode = "idle" | "stroke" | "move" | "pinch";

export function createGestures(target: GestureTarget): Gestures {
  const pointers = new Map<number, Point>();
  let mode: Mode = "idle";
  const pair = () => {
    const [one, other] = pointers.values();
    return one && other ? ([one, other] as const) : undefined;
  };
  const end = (id: number, isCanceled: boolean) => {
    if (!pointers.delete(id)) return;
    if (mode === "stroke") isCanceled ? target.cancelStroke() : target.endStroke();
    // After a pinch, the finger that stays must not paint: the mode stays until all fingers are up.
    if (mode !== "pinch" || pointers.size === 0) mode = "idle";
  };
  return {
    down(sample) {
      if (mode === "pinch" || (mode !== "idle" && sample.kind !== "touch") || pointers.size > 1) return;
      pointers.set(sample.id, { x: sample.x, y: sample.y });
      if (pointers.size === 2) {
        if (mode === "stroke") target.cancelStroke();
        mode = "pinch";
      } else {
        mode = sample.isMove ? "move" : "stroke";
        if (mode === "stroke") target.startStroke(sample);
      }
    },
    move(samples) {
      const last = samples.at(-1);
      const known = last && pointers.get(last.id);
      if (!last || !known) return;
      const before = pair();
      pointers.set(last.id, { x: last.x, y: last.y });
      const after = pair();
      if (mode === "stroke") target.continueStroke(samples);
      else if (mode === "move") target.moveBy({ x: last.x - known.x, y: last.y - known.y });
      else if (before && after) target.pinch(before, after);
    },
    up: (id) => end(id, false),
    cancel: (id) => end(id, true),
  };
}
