// Changes of the whole mask that buttons and keys share.
import { clipRectangle, fillRectangle, invertMask, type PixelRectangle, wholeOf } from "./mask.ts";
import type { MaskDocument } from "./mask-document.ts";

export const invertWholeMask = (document: MaskDocument): void =>
  document.change((mask) => {
    invertMask(mask);
    return wholeOf(mask);
  });

export function clearMask(document: MaskDocument): void {
  if (document.state().isEmpty) return;
  document.change((mask) => {
    fillRectangle(mask, wholeOf(mask), 0);
    return wholeOf(mask);
  });
}

export const addRectangle = (document: MaskDocument, rectangle: PixelRectangle): void =>
  document.change((mask) => {
    const area = clipRectangle(mask, rectangle);
    if (area) fillRectangle(mask, area, 255);
    return area;
  });
