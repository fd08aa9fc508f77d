// The words of one language for describing an image. Colours stand as nouns, so that nothing has to agree with them.
import type { ColourName } from "../vision/colour-names.ts";
import type { DetectedShape, ImageSummary } from "../vision/image-summary.ts";

export type DescriptionLanguage = {
  colours: Record<ColourName, string>;
  /** With the article that a sentence needs. */
  shapes: Record<DetectedShape["shape"], string>;
  across: Record<DetectedShape["across"], string>;
  down: Record<DetectedShape["down"], string>;
  /** Words for tags, without articles. */
  tags: Record<ImageSummary["orientation"] | ImageSummary["brightness"] | DetectedShape["shape"], string>;
  and: string;
  orientation: Record<ImageSummary["orientation"], string>;
  brightness: Record<ImageSummary["brightness"], string>;
  contrast: Record<ImageSummary["contrast"], string>;
  opening(orientation: string, colours: string): string;
  shape(shape: string, colour: string, place: string): string;
  contains(shapes: string): string;
  light(brightness: string, contrast: string): string;
  horizon(percent: number): string;
  shares(list: string): string;
  size(width: number, height: number): string;
};
