// The width of the gallery and the height of its rows, which follow the window.
import { type RefObject, useEffect, useState } from "react";
import type { GalleryLayout } from "./gallery-rows.ts";

const PHONE_WIDTH = 768;

const layoutFor = (width: number): GalleryLayout =>
  width < PHONE_WIDTH ? { width, targetHeight: 150, gap: 2 } : { width, targetHeight: 240, gap: 6 };

export function useLayout(element: RefObject<HTMLElement | null>): GalleryLayout | undefined {
  const [layout, setLayout] = useState<GalleryLayout>();
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) setLayout((known) => (known?.width === width ? known : layoutFor(width)));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return layout;
}
