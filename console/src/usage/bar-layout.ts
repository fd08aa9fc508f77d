// Places the bars, lines and labels of a stacked bar chart in a box. Pure, so that the geometry has tests.
export type BarRect = { bucket: number; series: number; x: number; y: number; width: number; height: number };
export type GridLine = { y: number; value: number };
export type BarLabel = { x: number; bucket: number };
export type BarLayout = { rects: BarRect[]; lines: GridLine[]; labels: BarLabel[]; columnWidth: number; left: number };

export const CHART_HEIGHT = 252;
const TOP = 14;
const BOTTOM = 24;
const BASE = CHART_HEIGHT - BOTTOM;
const LEFT = 52;
const MAX_BAR = 40;
const BAR_SHARE = 0.7;
/** Between the parts of one bar. */
const GAP = 1;
const MIN_LABEL_WIDTH = 56;
const LINE_COUNT = 3;

/** The smallest of 1, 2, 2.5, 3, 4, 5, 6, 8 or 10 times a power of ten that is not below. */
export function niceStep(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 2.5, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** `values[bucket][series]`, each a whole number. Lines are at least `smallestStep` apart. */
export function layoutBars(
  values: readonly (readonly number[])[],
  width: number,
  { smallestStep = 1 } = {},
): BarLayout {
  const sums = values.map((bucket) => bucket.reduce((sum, value) => sum + value, 0));
  const step = Math.ceil(Math.max(smallestStep, niceStep(Math.max(0, ...sums) / LINE_COUNT)));
  const scale = (BASE - TOP) / (step * LINE_COUNT);
  const columnWidth = Math.max(0, width - LEFT) / Math.max(1, values.length);
  const barWidth = Math.min(MAX_BAR, Math.max(1, columnWidth * BAR_SHARE));
  const rects = values.flatMap((bucket, index) => {
    let y = BASE;
    return bucket.flatMap((value, series): BarRect[] => {
      if (value <= 0) return [];
      const height = value * scale;
      y -= height;
      const x = LEFT + index * columnWidth + (columnWidth - barWidth) / 2;
      return [{ bucket: index, series, x, y, width: barWidth, height: Math.max(1, height - GAP) }];
    });
  });
  const every = Math.max(1, Math.ceil(MIN_LABEL_WIDTH / Math.max(1, columnWidth)));
  const last = values.length - 1;
  const labels = values
    .map((_, bucket) => ({ bucket, x: LEFT + (bucket + 0.5) * columnWidth }))
    // The last bucket has a label; one shortly before it would overlap.
    .filter(({ bucket }) => bucket === last || (bucket % every === 0 && last - bucket >= every));
  const lines = Array.from({ length: LINE_COUNT + 1 }, (_, index) => ({
    value: index * step,
    y: BASE - index * step * scale,
  }));
  return { rects, lines, labels, columnWidth, left: LEFT };
}
