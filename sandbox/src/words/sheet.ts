// The words of one language for describing a picture. Colours stand as nouns, so that nothing has to agree with them.
import type { ColourName } from "../sight/colour-names.ts";
import type { SeenShape, View } from "../sight/view.ts";

export type Sheet = {
  colours: Record<ColourName, string>;
  /** With the article that a sentence needs. */
  shapes: Record<SeenShape["shape"], string>;
  across: Record<SeenShape["across"], string>;
  down: Record<SeenShape["down"], string>;
  /** Words for tags, without articles. */
  tags: Record<View["orientation"] | View["brightness"] | SeenShape["shape"], string>;
  and: string;
  orientation: Record<View["orientation"], string>;
  brightness: Record<View["brightness"], string>;
  contrast: Record<View["contrast"], string>;
  opening(orientation: string, colours: string): string;
  shape(shape: string, colour: string, place: string): string;
  contains(shapes: string): string;
  light(brightness: string, contrast: string): string;
  horizon(percent: number): string;
  shares(list: string): string;
  size(width: number, height: number): string;
};
