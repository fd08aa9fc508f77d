// The size of the little frame that shows an aspect ratio, in pixels within a box of 22 × 18.
const BOX = { width: 22, height: 18 };

export const COMMON_RATIOS = ["1:1", "3:2", "4:3", "16:9", "2:3", "9:16"];

export function parseRatio(ratio: string): number | undefined {
  const [width = 0, height = 0] = ratio.split(":").map(Number);
  return width > 0 && height > 0 ? width / height : undefined;
}

export function ratioShape(ratio: string): { width: number; height: number } {
  const value = parseRatio(ratio) ?? 1;
  const area = 14 * 14;
  const width = Math.min(BOX.width, Math.sqrt(area * value));
  const height = Math.min(BOX.height, width / value);
  return { width: Math.round(height * value * 10) / 10, height: Math.round(height * 10) / 10 };
}
