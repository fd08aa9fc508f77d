// The view of a stage: fits the image when the stage gets its size, and zooms and moves within limits.
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { Point } from "./polygon.ts";
import { centerView, fitView, keepInSight, moveView, pinchView, type Size, type View, zoomAt } from "./view.ts";

export type StageView = {
  stageRef: RefObject<HTMLElement | null>;
  view: View;
  /** The view of this moment, for handlers of events that come faster than renders. */
  current(): View;
  moveBy(by: Point): void;
  zoomBy(factor: number, anchor: Point): void;
  /** A fixed zoom with the image in the middle. */
  zoomTo(zoom: number): void;
  fit(): void;
  pinch(before: readonly [Point, Point], after: readonly [Point, Point]): void;
};

const EMPTY: Size = { width: 0, height: 0 };

export function useStageView(image: Size): StageView {
  const stageRef = useRef<HTMLElement>(null);
  const size = useRef<Size>(EMPTY);
  const latest = useRef<View>({ zoom: 1, x: 0, y: 0 });
  /** Until the user moves or zooms, the image fits the stage, also when the window changes. */
  const isFitted = useRef(true);
  const [view, setView] = useState(latest.current);
  const { width, height } = image;
  const actions = useMemo(() => {
    const show = (next: View, isFit: boolean) => {
      isFitted.current = isFit;
      latest.current = next;
      setView(next);
    };
    const change = (next: View) => show(keepInSight(next, size.current, { width, height }), false);
    const fit = () => show(fitView(size.current, { width, height }), true);
    return {
      fit,
      resize(next: Size) {
        size.current = next;
        if (isFitted.current) fit();
      },
      current: () => latest.current,
      moveBy: (by: Point) => change(moveView(latest.current, by)),
      zoomBy: (factor: number, anchor: Point) => change(zoomAt(latest.current, factor, anchor)),
      zoomTo: (zoom: number) => show(centerView(size.current, { width, height }, zoom), false),
      pinch: (before: readonly [Point, Point], after: readonly [Point, Point]) =>
        change(pinchView(latest.current, before, after)),
    };
  }, [width, height]);
  const { resize, ...rest } = actions;
  useEffect(() => {
    const stage = stageRef.current;
    if (!stage) return;
    const observer = new ResizeObserver(() => resize({ width: stage.clientWidth, height: stage.clientHeight }));
    observer.observe(stage);
    return () => observer.disconnect();
  }, [resize]);
  return { stageRef, view, ...rest };
}
