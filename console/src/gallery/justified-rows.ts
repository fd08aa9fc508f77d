// Lays tiles of any shape into rows of equal height that fill the width. All sizes are known before an image is
// loaded, so nothing moves when it arrives.
export type JustifiedRow = { height: number; widths: number[]; first: number };

type Layout = { width: number; targetHeight: number; gap: number };

/** `ratios`: width divided by height of each tile. The last row keeps the target height instead of the full width. */
export function justifyRows(ratios: readonly number[], { width, targetHeight, gap }: Layout): JustifiedRow[] {
  const rows: JustifiedRow[] = [];
  let first = 0;
  let sum = 0;
  for (const [index, ratio] of ratios.entries()) {
    sum += ratio;
    const count = index - first + 1;
    const height = (width - gap * (count - 1)) / sum;
    const isLast = index === ratios.length - 1;
    if (height > targetHeight && !isLast) continue;
    const final = Math.max(1, isLast ? Math.min(height, targetHeight) : height);
    rows.push({ height: final, widths: ratios.slice(first, index + 1).map((each) => each * final), first });
    first = index + 1;
    sum = 0;
  }
  return rows;
}
