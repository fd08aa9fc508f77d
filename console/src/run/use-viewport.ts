// Pan and zoom of the graph. Both change one transform through the CSSOM, so that nothing is laid out anew. `area` is
// the part that must be rendered; it changes in large steps only.
import {
  type PointerEvent as ReactPointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from "react";
import { type Box, FIRST_VIEW, fitView, isSameBox, revealBox, type View, visibleArea, zoomView } from "./viewport.ts";

const ZOOM_PER_PIXEL = 0.006;
const NO_SIZE = { left: 0, top: 0, width: 0, height: 0 };

export function useViewport(frame: RefObject<HTMLElement | null>, layer: RefObject<HTMLElement | null>) {
  const view = useRef(FIRST_VIEW);
  const [percent, setPercent] = useState(100);
  const [area, setArea] = useState(() => visibleArea(FIRST_VIEW, { width: innerWidth, height: innerHeight }));
  const sizeOf = useCallback(() => frame.current?.getBoundingClientRect() ?? NO_SIZE, [frame]);
  const show = useCallback(
    (next: View) => {
      view.current = next;
      layer.current?.style.setProperty("transform", `translate(${next.x}px, ${next.y}px) scale(${next.scale})`);
      setPercent(Math.round(next.scale * 100));
      const nextArea = visibleArea(next, sizeOf());
      setArea((known) => (isSameBox(known, nextArea) ? known : nextArea));
    },
    [layer, sizeOf],
  );
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    show(view.current);
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = sizeOf();
      const { x, y, scale } = view.current;
      const isZoom = event.ctrlKey || event.metaKey;
      const point = { x: event.clientX - left, y: event.clientY - top };
      if (isZoom) show(zoomView(view.current, Math.exp(-event.deltaY * ZOOM_PER_PIXEL), point));
      else show({ x: x - event.deltaX, y: y - event.deltaY, scale });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [frame, show, sizeOf]);
  return {
    percent,
    area,
    zoom: (factor: number) => {
      const { width, height } = sizeOf();
      show(zoomView(view.current, factor, { x: width / 2, y: height / 2 }));
    },
    fit: (box: Box) => show(fitView(box, sizeOf())),
    reveal: (box: Box) => show(revealBox(view.current, box, sizeOf())),
    onPointerDown: (event: ReactPointerEvent<HTMLElement>) => followDrag(event, view.current, show),
  };
}

/** Dragging the ground moves the graph. */
function followDrag(event: ReactPointerEvent<HTMLElement>, start: View, show: (view: View) => void): void {
  const { button, pointerId, clientX, clientY, currentTarget: ground, target } = event;
  if (button !== 0 || (target instanceof Element && target.closest("[role=treeitem], button"))) return;
  const drag = new AbortController();
  const { signal } = drag;
  const move = (moved: PointerEvent) =>
    show({ ...start, x: start.x + moved.clientX - clientX, y: start.y + moved.clientY - clientY });
  ground.setPointerCapture(pointerId);
  ground.addEventListener("pointermove", move, { signal });
  ground.addEventListener("pointerup", () => drag.abort(), { signal });
  ground.addEventListener("pointercancel", () => drag.abort(), { signal });
}
