// The width of the gallery and the height of its rows, which follow the window and the reader's choice.
import { type RefObject, useEffect, useMemo, useState } from "react";
import type { GalleryLayout } from "./gallery-rows.ts";

const PHONE_WIDTH = 768;
const PHONE_HEIGHT = 130;
const ROW_HEIGHT_KEY = "gesso.gallery.row-height";
export const ROW_HEIGHTS = { least: 160, most: 360, usual: 240 };

const layoutFor = (width: number, rowHeight: number): GalleryLayout =>
  width < PHONE_WIDTH ? { width, targetHeight: PHONE_HEIGHT, gap: 2 } : { width, targetHeight: rowHeight, gap: 6 };

export function useLayout(element: RefObject<HTMLElement | null>, rowHeight: number): GalleryLayout | undefined {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return useMemo(() => (width > 0 ? layoutFor(width, rowHeight) : undefined), [width, rowHeight]);
}

/** The height of rows, kept in this browser. */
export function useRowHeight(): [number, (height: number) => void] {
  const [height, setHeight] = useState(() => Number(localStorage.getItem(ROW_HEIGHT_KEY)) || ROW_HEIGHTS.usual);
  const change = (next: number) => {
    localStorage.setItem(ROW_HEIGHT_KEY, String(next));
    setHeight(next);
  };
  return [height, change];
}
