// Small copies of an output and its blurred placeholder. Runs of earlier versions have neither.
import type { Output } from "@gesso/client";
import { thumbHashToDataURL } from "thumbhash";

/** Outputs with what a server with thumbnails adds. */
export type OutputWithThumbnails = Output & {
  thumbnails?: { small: string; large: string } | null;
  thumbhash?: string | null;
};

/** The longer side of the small copy, in pixels. */
const SMALL_SIDE = 320;

/** The URL for a tile: a copy that is large enough for the screen, or the file itself if it is an image. */
export function tileUrlOf(output: OutputWithThumbnails, shownWidth?: number): string | undefined {
  const isSmallEnough = shownWidth !== undefined && shownWidth * (globalThis.devicePixelRatio ?? 1) <= SMALL_SIDE;
  if (output.thumbnails) return isSmallEnough ? output.thumbnails.small : output.thumbnails.large;
  return output.media_type.startsWith("image/") ? output.url : undefined;
}

/** Enough for what a gallery shows while it scrolls. A placeholder has 2 to 5 kB. */
const MAX_PLACEHOLDERS = 1000;
const placeholders = new Map<string, string | undefined>();

/** A data: URL of the blurred image; undefined without a hash or with a damaged one. */
export function placeholderOf({ thumbhash }: Pick<OutputWithThumbnails, "thumbhash">): string | undefined {
  if (!thumbhash) return undefined;
  if (!placeholders.has(thumbhash)) {
    if (placeholders.size >= MAX_PLACEHOLDERS) placeholders.clear();
    placeholders.set(thumbhash, drawPlaceholder(thumbhash));
  }
  return placeholders.get(thumbhash);
}

function drawPlaceholder(thumbhash: string): string | undefined {
  try {
    return thumbHashToDataURL(Uint8Array.from(atob(thumbhash), (letter) => letter.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
