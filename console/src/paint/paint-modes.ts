// What the Paint page can do with an image.
export const PAINT_MODES = ["mask", "reframe", "layers"] as const;
export type PaintMode = (typeof PAINT_MODES)[number];
