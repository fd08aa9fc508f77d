// The sizes that Ideogram 3.0 supports, all of about one megapixel, and the selection of the nearest one.

/** Pairs of sides; each exists in landscape and portrait. */
const LANDSCAPE = [
  ...["960x832", "960x896", "1024x832", "1024x896", "1024x960", "1088x768", "1088x832", "1088x896", "1088x960"],
  ...["1120x896", "1152x704", "1152x832", "1152x864", "1152x896", "1216x704", "1216x768", "1216x832", "1248x832"],
  ...["1280x704", "1280x768", "1280x800", "1312x736", "1344x640", "1344x704", "1344x768", "1408x576", "1408x640"],
  ...["1408x704", "1472x576", "1472x640", "1472x704", "1536x512", "1536x576", "1536x640"],
] as const;

const toPortrait = (size: string) => size.split("x").reverse().join("x");

export const RESOLUTIONS: readonly string[] = [...LANDSCAPE.map(toPortrait), "1024x1024", ...LANDSCAPE];

export const RATIOS = [
  ...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "16:10", "10:16", "5:4", "4:5", "2:1", "1:2", "3:1", "1:3"],
] as const;

const USUAL_PIXELS = 1024 * 1024;
const logDistance = (a: number, b: number) => Math.abs(Math.log(a / b));

/** The aspect ratio weighs most; among equal ratios, the longer side decides, or the number of pixels. */
export function nearestResolution(shape: { width: number; height: number }, longerSide?: number): string {
  const distance = (size: string) => {
    const [width = 1, height = 1] = size.split("x").map(Number);
    const length = longerSide
      ? logDistance(Math.max(width, height), longerSide)
      : logDistance(width * height, USUAL_PIXELS);
    return logDistance(width / height, shape.width / shape.height) * 10 + length;
  };
  return RESOLUTIONS.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}
