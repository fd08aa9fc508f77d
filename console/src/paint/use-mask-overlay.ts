// Keeps a canvas over the image equal to the mask. Changes within one frame are drawn together.
import { type RefObject, useEffect, useRef } from "react";
import type { MaskColour } from "./brush-settings.ts";
import { joinRectangles, type PixelRectangle, wholeOf } from "./mask.ts";
import { COLOUR_VALUES } from "./mask-colours.ts";
import type { MaskDocument } from "./mask-document.ts";
import { drawOverlay } from "./overlay.ts";

const LINE_CSS_PIXELS = 1.6;

type OverlayOptions = { document: MaskDocument; colour: MaskColour; opacity: number; zoom: number };

export function useMaskOverlay({
  document,
  colour,
  opacity,
  zoom,
}: OverlayOptions): RefObject<HTMLCanvasElement | null> {
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const lineWidth = Math.min(6, Math.max(1, Math.round(LINE_CSS_PIXELS / zoom)));
  useEffect(() => {
    const context = canvasRef.current?.getContext("2d");
    if (!context) return;
    const look = { colour: COLOUR_VALUES[colour], opacity: opacity / 100, lineWidth };
    let pending: PixelRectangle | undefined;
    let frame = 0;
    const draw = () => {
      frame = 0;
      if (pending) drawOverlay(context, document.mask, { area: pending, look });
      pending = undefined;
    };
    const schedule = (area: PixelRectangle) => {
      pending = joinRectangles(pending, area);
      frame ||= requestAnimationFrame(draw);
    };
    schedule(wholeOf(document.mask));
    const unsubscribe = document.subscribePixels(schedule);
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [document, colour, opacity, lineWidth]);
  return canvasRef;
}
