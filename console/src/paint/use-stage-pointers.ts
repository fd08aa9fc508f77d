// Connects the pointer and wheel events of a stage with gestures. All positions between two frames are used, which
// browsers report as coalesced events.
import { type RefObject, useEffect, useRef } from "react";
import { createGestures, type GestureTarget, type PointerSample } from "./gestures.ts";
import type { Point } from "./polygon.ts";
import type { StageView } from "./use-stage-view.ts";

const MIDDLE_BUTTON = 1;
const MAIN_BUTTON = 0;
/** A notch of a mouse wheel is 100 units; it zooms by about a quarter. */
const WHEEL_ZOOM = 0.0022;

export type StagePointers = GestureTarget & {
  /** Whether the pointer moves the view, because of the tool or of a key that is held. */
  isMoving(): boolean;
  /** Every position of a pointer over the stage, also without a button. */
  hover(point: Point | undefined): void;
};

type StageTarget = { stageRef: RefObject<HTMLElement | null>; zoomBy: StageView["zoomBy"] };

export function useStagePointers({ stageRef, zoomBy }: StageTarget, pointers: StagePointers): void {
  // The handlers of the latest render, without listening anew after each.
  const latest = useRef(pointers);
  latest.current = pointers;
  useEffect(() => {
    const stage = stageRef.current;
    if (!stage) return;
    const gestures = createGestures(forwardTo(latest));
    const toSample = (event: PointerEvent): PointerSample => ({
      ...positionOn(stage, event),
      id: event.pointerId,
      kind: event.pointerType === "pen" || event.pointerType === "touch" ? event.pointerType : "mouse",
      pressure: event.pressure,
      isMove: event.button === MIDDLE_BUTTON || latest.current.isMoving(),
    });
    const listeners: { [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void } = {
      pointerdown(event) {
        if (event.button !== MAIN_BUTTON && event.button !== MIDDLE_BUTTON) return;
        event.preventDefault();
        // The keys of the tools work while no field has the focus.
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
        stage.setPointerCapture(event.pointerId);
        gestures.down(toSample(event));
      },
      pointermove(event) {
        latest.current.hover(positionOn(stage, event));
        const parts = event.getCoalescedEvents();
        gestures.move((parts.length > 0 ? parts : [event]).map(toSample));
      },
      pointerup: (event) => gestures.up(event.pointerId),
      pointercancel: (event) => gestures.cancel(event.pointerId),
      pointerleave: () => latest.current.hover(undefined),
      wheel(event) {
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) zoomBy(Math.exp(-event.deltaY * WHEEL_ZOOM * 4), positionOn(stage, event));
        else latest.current.moveBy({ x: -event.deltaX, y: -event.deltaY });
      },
    };
    const controller = new AbortController();
    for (const [type, listener] of Object.entries(listeners)) {
      stage.addEventListener(type, listener as EventListener, { passive: false, signal: controller.signal });
    }
    return () => controller.abort();
  }, [stageRef, zoomBy]);
}

const forwardTo = (latest: RefObject<StagePointers>): GestureTarget => ({
  startStroke: (sample) => latest.current.startStroke(sample),
  continueStroke: (samples) => latest.current.continueStroke(samples),
  endStroke: () => latest.current.endStroke(),
  cancelStroke: () => latest.current.cancelStroke(),
  moveBy: (by) => latest.current.moveBy(by),
  pinch: (before, after) => latest.current.pinch(before, after),
});

function positionOn(stage: HTMLElement, { clientX, clientY }: MouseEvent): Point {
  const { left, top } = stage.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}
